//! The values of the MPI-5 ABI, under their C names (MPI 5.0, chapter 20 and annex A).
//!
//! Made by crates/mpi/abi/generate.py from the tables beside it; edit those.
#![allow(missing_docs, reason = "the standard's own names")]

use std::ffi::c_int;

/// A handle, or an address with a meaning of its own, as C passes it.
pub type Handle = usize;

// Version
pub const MPI_VERSION: c_int = 5;
pub const MPI_SUBVERSION: c_int = 0;
pub const MPI_ABI_VERSION: c_int = 1;
pub const MPI_ABI_SUBVERSION: c_int = 0;

// Reduction operations
pub const MPI_OP_NULL: Handle = 0x20;
pub const MPI_SUM: Handle = 0x21;
pub const MPI_MIN: Handle = 0x22;
pub const MPI_MAX: Handle = 0x23;
pub const MPI_PROD: Handle = 0x24;
pub const MPI_BAND: Handle = 0x28;
pub const MPI_BOR: Handle = 0x29;
pub const MPI_BXOR: Handle = 0x2a;
pub const MPI_LAND: Handle = 0x30;
pub const MPI_LOR: Handle = 0x31;
pub const MPI_LXOR: Handle = 0x32;
pub const MPI_MINLOC: Handle = 0x38;
pub const MPI_MAXLOC: Handle = 0x39;
pub const MPI_REPLACE: Handle = 0x3c;
pub const MPI_NO_OP: Handle = 0x3d;

// Communicators
pub const MPI_COMM_NULL: Handle = 0x100;
pub const MPI_COMM_WORLD: Handle = 0x101;
pub const MPI_COMM_SELF: Handle = 0x102;

// Groups
pub const MPI_GROUP_NULL: Handle = 0x108;
pub const MPI_GROUP_EMPTY: Handle = 0x109;

// Windows
pub const MPI_WIN_NULL: Handle = 0x110;

// Files
pub const MPI_FILE_NULL: Handle = 0x118;

// Sessions
pub const MPI_SESSION_NULL: Handle = 0x120;

// Matched messages
pub const MPI_MESSAGE_NULL: Handle = 0x128;
pub const MPI_MESSAGE_NO_PROC: Handle = 0x129;

// Info
pub const MPI_INFO_NULL: Handle = 0x130;
pub const MPI_INFO_ENV: Handle = 0x131;

// Error handlers
pub const MPI_ERRHANDLER_NULL: Handle = 0x140;
pub const MPI_ERRORS_ARE_FATAL: Handle = 0x141;
pub const MPI_ERRORS_ABORT: Handle = 0x142;
pub const MPI_ERRORS_RETURN: Handle = 0x143;

// Requests
pub const MPI_REQUEST_NULL: Handle = 0x180;

// Datatypes
pub const MPI_DATATYPE_NULL: Handle = 0x200;
pub const MPI_AINT: Handle = 0x201;
pub const MPI_COUNT: Handle = 0x202;
pub const MPI_OFFSET: Handle = 0x203;
pub const MPI_PACKED: Handle = 0x207;
pub const MPI_SHORT: Handle = 0x208;
pub const MPI_INT: Handle = 0x209;
pub const MPI_LONG: Handle = 0x20a;
pub const MPI_LONG_LONG: Handle = 0x20b;
pub const MPI_LONG_LONG_INT: Handle = MPI_LONG_LONG;
pub const MPI_UNSIGNED_SHORT: Handle = 0x20c;
pub const MPI_UNSIGNED: Handle = 0x20d;
pub const MPI_UNSIGNED_LONG: Handle = 0x20e;
pub const MPI_UNSIGNED_LONG_LONG: Handle = 0x20f;
pub const MPI_FLOAT: Handle = 0x210;
pub const MPI_C_FLOAT_COMPLEX: Handle = 0x212;
pub const MPI_C_COMPLEX: Handle = MPI_C_FLOAT_COMPLEX;
pub const MPI_CXX_FLOAT_COMPLEX: Handle = 0x213;
pub const MPI_DOUBLE: Handle = 0x214;
pub const MPI_C_DOUBLE_COMPLEX: Handle = 0x216;
pub const MPI_CXX_DOUBLE_COMPLEX: Handle = 0x217;
pub const MPI_LOGICAL: Handle = 0x218;
pub const MPI_INTEGER: Handle = 0x219;
pub const MPI_REAL: Handle = 0x21a;
pub const MPI_COMPLEX: Handle = 0x21b;
pub const MPI_DOUBLE_PRECISION: Handle = 0x21c;
pub const MPI_DOUBLE_COMPLEX: Handle = 0x21d;
pub const MPI_CHARACTER: Handle = 0x21e;
pub const MPI_LONG_DOUBLE: Handle = 0x220;
pub const MPI_C_LONG_DOUBLE_COMPLEX: Handle = 0x224;
pub const MPI_CXX_LONG_DOUBLE_COMPLEX: Handle = 0x225;
pub const MPI_FLOAT_INT: Handle = 0x228;
pub const MPI_DOUBLE_INT: Handle = 0x229;
pub const MPI_LONG_INT: Handle = 0x22a;
pub const MPI_2INT: Handle = 0x22b;
pub const MPI_SHORT_INT: Handle = 0x22c;
pub const MPI_LONG_DOUBLE_INT: Handle = 0x22d;
pub const MPI_2REAL: Handle = 0x230;
pub const MPI_2DOUBLE_PRECISION: Handle = 0x231;
pub const MPI_2INTEGER: Handle = 0x232;
pub const MPI_C_BOOL: Handle = 0x238;
pub const MPI_CXX_BOOL: Handle = 0x239;
pub const MPI_WCHAR: Handle = 0x23c;
pub const MPI_INT8_T: Handle = 0x240;
pub const MPI_UINT8_T: Handle = 0x241;
pub const MPI_CHAR: Handle = 0x243;
pub const MPI_SIGNED_CHAR: Handle = 0x244;
pub const MPI_UNSIGNED_CHAR: Handle = 0x245;
pub const MPI_BYTE: Handle = 0x247;
pub const MPI_INT16_T: Handle = 0x248;
pub const MPI_UINT16_T: Handle = 0x249;
pub const MPI_INT32_T: Handle = 0x250;
pub const MPI_UINT32_T: Handle = 0x251;
pub const MPI_INT64_T: Handle = 0x258;
pub const MPI_UINT64_T: Handle = 0x259;
pub const MPI_LOGICAL1: Handle = 0x2c0;
pub const MPI_INTEGER1: Handle = 0x2c1;
pub const MPI_LOGICAL2: Handle = 0x2c8;
pub const MPI_INTEGER2: Handle = 0x2c9;
pub const MPI_REAL2: Handle = 0x2ca;
pub const MPI_LOGICAL4: Handle = 0x2d0;
pub const MPI_INTEGER4: Handle = 0x2d1;
pub const MPI_REAL4: Handle = 0x2d2;
pub const MPI_COMPLEX4: Handle = 0x2d3;
pub const MPI_LOGICAL8: Handle = 0x2d8;
pub const MPI_INTEGER8: Handle = 0x2d9;
pub const MPI_REAL8: Handle = 0x2da;
pub const MPI_COMPLEX8: Handle = 0x2db;
pub const MPI_LOGICAL16: Handle = 0x2e0;
pub const MPI_INTEGER16: Handle = 0x2e1;
pub const MPI_REAL16: Handle = 0x2e2;
pub const MPI_COMPLEX16: Handle = 0x2e3;
pub const MPI_COMPLEX32: Handle = 0x2eb;

// A status in Fortran: its size and indices, in integers
pub const MPI_F_STATUS_SIZE: c_int = 8;
pub const MPI_F_SOURCE: c_int = 0;
pub const MPI_F_TAG: c_int = 1;
pub const MPI_F_ERROR: c_int = 2;

// Error classes
pub const MPI_SUCCESS: c_int = 0;
pub const MPI_ERR_BUFFER: c_int = 1;
pub const MPI_ERR_COUNT: c_int = 2;
pub const MPI_ERR_TYPE: c_int = 3;
pub const MPI_ERR_TAG: c_int = 4;
pub const MPI_ERR_COMM: c_int = 5;
pub const MPI_ERR_RANK: c_int = 6;
pub const MPI_ERR_REQUEST: c_int = 7;
pub const MPI_ERR_ROOT: c_int = 8;
pub const MPI_ERR_GROUP: c_int = 9;
pub const MPI_ERR_OP: c_int = 10;
pub const MPI_ERR_TOPOLOGY: c_int = 11;
pub const MPI_ERR_DIMS: c_int = 12;
pub const MPI_ERR_ARG: c_int = 13;
pub const MPI_ERR_UNKNOWN: c_int = 14;
pub const MPI_ERR_TRUNCATE: c_int = 15;
pub const MPI_ERR_OTHER: c_int = 16;
pub const MPI_ERR_INTERN: c_int = 17;
pub const MPI_ERR_PENDING: c_int = 18;
pub const MPI_ERR_IN_STATUS: c_int = 19;
pub const MPI_ERR_ACCESS: c_int = 20;
pub const MPI_ERR_AMODE: c_int = 21;
pub const MPI_ERR_ASSERT: c_int = 22;
pub const MPI_ERR_BAD_FILE: c_int = 23;
pub const MPI_ERR_BASE: c_int = 24;
pub const MPI_ERR_CONVERSION: c_int = 25;
pub const MPI_ERR_DISP: c_int = 26;
pub const MPI_ERR_DUP_DATAREP: c_int = 27;
pub const MPI_ERR_FILE_EXISTS: c_int = 28;
pub const MPI_ERR_FILE_IN_USE: c_int = 29;
pub const MPI_ERR_FILE: c_int = 30;
pub const MPI_ERR_INFO_KEY: c_int = 31;
pub const MPI_ERR_INFO_NOKEY: c_int = 32;
pub const MPI_ERR_INFO_VALUE: c_int = 33;
pub const MPI_ERR_INFO: c_int = 34;
pub const MPI_ERR_IO: c_int = 35;
pub const MPI_ERR_KEYVAL: c_int = 36;
pub const MPI_ERR_LOCKTYPE: c_int = 37;
pub const MPI_ERR_NAME: c_int = 38;
pub const MPI_ERR_NO_MEM: c_int = 39;
pub const MPI_ERR_NOT_SAME: c_int = 40;
pub const MPI_ERR_NO_SPACE: c_int = 41;
pub const MPI_ERR_NO_SUCH_FILE: c_int = 42;
pub const MPI_ERR_PORT: c_int = 43;
pub const MPI_ERR_QUOTA: c_int = 44;
pub const MPI_ERR_READ_ONLY: c_int = 45;
pub const MPI_ERR_RMA_ATTACH: c_int = 46;
pub const MPI_ERR_RMA_CONFLICT: c_int = 47;
pub const MPI_ERR_RMA_RANGE: c_int = 48;
pub const MPI_ERR_RMA_SHARED: c_int = 49;
pub const MPI_ERR_RMA_SYNC: c_int = 50;
pub const MPI_ERR_SERVICE: c_int = 51;
pub const MPI_ERR_SIZE: c_int = 52;
pub const MPI_ERR_SPAWN: c_int = 53;
pub const MPI_ERR_UNSUPPORTED_DATAREP: c_int = 54;
pub const MPI_ERR_UNSUPPORTED_OPERATION: c_int = 55;
pub const MPI_ERR_WIN: c_int = 56;
pub const MPI_ERR_RMA_FLAVOR: c_int = 57;
pub const MPI_ERR_PROC_ABORTED: c_int = 58;
pub const MPI_ERR_VALUE_TOO_LARGE: c_int = 59;
pub const MPI_ERR_SESSION: c_int = 60;
pub const MPI_ERR_ERRHANDLER: c_int = 61;
pub const MPI_ERR_ABI: c_int = 62;

// Error classes of the tools interface
pub const MPI_T_ERR_CANNOT_INIT: c_int = 1001;
pub const MPI_T_ERR_NOT_ACCESSIBLE: c_int = 1002;
pub const MPI_T_ERR_NOT_INITIALIZED: c_int = 1003;
pub const MPI_T_ERR_NOT_SUPPORTED: c_int = 1004;
pub const MPI_T_ERR_MEMORY: c_int = 1005;
pub const MPI_T_ERR_INVALID: c_int = 1006;
pub const MPI_T_ERR_INVALID_INDEX: c_int = 1007;
pub const MPI_T_ERR_INVALID_ITEM: c_int = 1008;
pub const MPI_T_ERR_INVALID_SESSION: c_int = 1009;
pub const MPI_T_ERR_INVALID_HANDLE: c_int = 1010;
pub const MPI_T_ERR_INVALID_NAME: c_int = 1011;
pub const MPI_T_ERR_OUT_OF_HANDLES: c_int = 1012;
pub const MPI_T_ERR_OUT_OF_SESSIONS: c_int = 1013;
pub const MPI_T_ERR_CVAR_SET_NOT_NOW: c_int = 1014;
pub const MPI_T_ERR_CVAR_SET_NEVER: c_int = 1015;
pub const MPI_T_ERR_PVAR_NO_WRITE: c_int = 1016;
pub const MPI_T_ERR_PVAR_NO_STARTSTOP: c_int = 1017;
pub const MPI_T_ERR_PVAR_NO_ATOMIC: c_int = 1018;

// The last predefined error code
pub const MPI_ERR_LASTCODE: c_int = 0x3fff;

// Special addresses
pub const MPI_BOTTOM: Handle = 0;
pub const MPI_IN_PLACE: Handle = 1;
pub const MPI_BUFFER_AUTOMATIC: Handle = 2;

// Arguments that are left out
pub const MPI_ARGV_NULL: Handle = 0;
pub const MPI_ARGVS_NULL: Handle = 0;
pub const MPI_ERRCODES_IGNORE: Handle = 0;
pub const MPI_STATUS_IGNORE: Handle = 0;
pub const MPI_STATUSES_IGNORE: Handle = 0;

// Weights of graph topologies
pub const MPI_UNWEIGHTED: Handle = 10;
pub const MPI_WEIGHTS_EMPTY: Handle = 11;

// Longest strings, with the null character
pub const MPI_MAX_DATAREP_STRING: c_int = 128;
pub const MPI_MAX_ERROR_STRING: c_int = 512;
pub const MPI_MAX_INFO_KEY: c_int = 256;
pub const MPI_MAX_INFO_VAL: c_int = 1024;
pub const MPI_MAX_LIBRARY_VERSION_STRING: c_int = 8192;
pub const MPI_MAX_OBJECT_NAME: c_int = 128;
pub const MPI_MAX_PORT_NAME: c_int = 1024;
pub const MPI_MAX_PROCESSOR_NAME: c_int = 256;
pub const MPI_MAX_STRINGTAG_LEN: c_int = 1024;
pub const MPI_MAX_PSET_NAME_LEN: c_int = 1024;

// Buffered mode: bytes beside each message
pub const MPI_BSEND_OVERHEAD: c_int = 512;

// Opening files: flags
pub const MPI_MODE_APPEND: c_int = 1;
pub const MPI_MODE_CREATE: c_int = 2;
pub const MPI_MODE_DELETE_ON_CLOSE: c_int = 4;
pub const MPI_MODE_EXCL: c_int = 8;
pub const MPI_MODE_RDONLY: c_int = 16;
pub const MPI_MODE_RDWR: c_int = 32;
pub const MPI_MODE_SEQUENTIAL: c_int = 64;
pub const MPI_MODE_UNIQUE_OPEN: c_int = 128;
pub const MPI_MODE_WRONLY: c_int = 256;

// Window synchronisation: flags
pub const MPI_MODE_NOCHECK: c_int = 1024;
pub const MPI_MODE_NOPRECEDE: c_int = 2048;
pub const MPI_MODE_NOPUT: c_int = 4096;
pub const MPI_MODE_NOSTORE: c_int = 8192;
pub const MPI_MODE_NOSUCCEED: c_int = 16384;

// Wildcards
pub const MPI_ANY_SOURCE: c_int = -1;
pub const MPI_ANY_TAG: c_int = -2;

// Special ranks
pub const MPI_PROC_NULL: c_int = -3;
pub const MPI_ROOT: c_int = -4;

// No value
pub const MPI_UNDEFINED: c_int = -32766;

// Levels of thread support
pub const MPI_THREAD_SINGLE: c_int = 0;
pub const MPI_THREAD_FUNNELED: c_int = 1024;
pub const MPI_THREAD_SERIALIZED: c_int = 2048;
pub const MPI_THREAD_MULTIPLE: c_int = 4096;

// Arrays: storage order
pub const MPI_ORDER_C: c_int = 0xC;
pub const MPI_ORDER_FORTRAN: c_int = 0xF;

// Arrays: distribution
pub const MPI_DISTRIBUTE_NONE: c_int = 16;
pub const MPI_DISTRIBUTE_BLOCK: c_int = 17;
pub const MPI_DISTRIBUTE_CYCLIC: c_int = 18;
pub const MPI_DISTRIBUTE_DFLT_DARG: c_int = 19;

// How a datatype was made
pub const MPI_COMBINER_NAMED: c_int = 101;
pub const MPI_COMBINER_DUP: c_int = 102;
pub const MPI_COMBINER_CONTIGUOUS: c_int = 103;
pub const MPI_COMBINER_VECTOR: c_int = 104;
pub const MPI_COMBINER_HVECTOR: c_int = 105;
pub const MPI_COMBINER_INDEXED: c_int = 106;
pub const MPI_COMBINER_HINDEXED: c_int = 107;
pub const MPI_COMBINER_INDEXED_BLOCK: c_int = 108;
pub const MPI_COMBINER_HINDEXED_BLOCK: c_int = 109;
pub const MPI_COMBINER_STRUCT: c_int = 110;
pub const MPI_COMBINER_SUBARRAY: c_int = 111;
pub const MPI_COMBINER_DARRAY: c_int = 112;
pub const MPI_COMBINER_F90_REAL: c_int = 113;
pub const MPI_COMBINER_F90_COMPLEX: c_int = 114;
pub const MPI_COMBINER_F90_INTEGER: c_int = 115;
pub const MPI_COMBINER_RESIZED: c_int = 116;
pub const MPI_COMBINER_VALUE_INDEX: c_int = 117;

// Classes of Fortran types
pub const MPI_TYPECLASS_INTEGER: c_int = 192;
pub const MPI_TYPECLASS_REAL: c_int = 193;
pub const MPI_TYPECLASS_COMPLEX: c_int = 194;

// Results of comparisons
pub const MPI_IDENT: c_int = 201;
pub const MPI_CONGRUENT: c_int = 202;
pub const MPI_SIMILAR: c_int = 203;
pub const MPI_UNEQUAL: c_int = 204;

// Kinds of topology
pub const MPI_CART: c_int = 211;
pub const MPI_GRAPH: c_int = 212;
pub const MPI_DIST_GRAPH: c_int = 213;

// Kinds of split
pub const MPI_COMM_TYPE_SHARED: c_int = 221;
pub const MPI_COMM_TYPE_HW_UNGUIDED: c_int = 222;
pub const MPI_COMM_TYPE_HW_GUIDED: c_int = 223;
pub const MPI_COMM_TYPE_RESOURCE_GUIDED: c_int = 224;

// Window locks
pub const MPI_LOCK_EXCLUSIVE: c_int = 301;
pub const MPI_LOCK_SHARED: c_int = 302;

// How a window was made
pub const MPI_WIN_FLAVOR_CREATE: c_int = 311;
pub const MPI_WIN_FLAVOR_ALLOCATE: c_int = 312;
pub const MPI_WIN_FLAVOR_DYNAMIC: c_int = 313;
pub const MPI_WIN_FLAVOR_SHARED: c_int = 314;

// Memory models of windows
pub const MPI_WIN_UNIFIED: c_int = 321;
pub const MPI_WIN_SEPARATE: c_int = 322;

// File positions
pub const MPI_SEEK_CUR: c_int = 401;
pub const MPI_SEEK_END: c_int = 402;
pub const MPI_SEEK_SET: c_int = 403;

// File views
pub const MPI_DISPLACEMENT_CURRENT: i64 = -1;

// No attribute key
pub const MPI_KEYVAL_INVALID: c_int = 0;

// Attributes of communicators
pub const MPI_TAG_UB: c_int = 501;
pub const MPI_IO: c_int = 502;
pub const MPI_HOST: c_int = 503;
pub const MPI_WTIME_IS_GLOBAL: c_int = 504;
pub const MPI_APPNUM: c_int = 505;
pub const MPI_LASTUSEDCODE: c_int = 506;
pub const MPI_UNIVERSE_SIZE: c_int = 507;

// Attributes of windows
pub const MPI_WIN_BASE: c_int = 601;
pub const MPI_WIN_DISP_UNIT: c_int = 602;
pub const MPI_WIN_SIZE: c_int = 603;
pub const MPI_WIN_CREATE_FLAVOR: c_int = 604;
pub const MPI_WIN_MODEL: c_int = 605;

// Predefined attribute callbacks
pub const MPI_NULL_COPY_FN: Handle = 0;
pub const MPI_DUP_FN: Handle = 0x1;
pub const MPI_NULL_DELETE_FN: Handle = 0;
pub const MPI_COMM_NULL_COPY_FN: Handle = 0;
pub const MPI_COMM_DUP_FN: Handle = 0x1;
pub const MPI_COMM_NULL_DELETE_FN: Handle = 0;
pub const MPI_TYPE_NULL_COPY_FN: Handle = 0;
pub const MPI_TYPE_DUP_FN: Handle = 0x1;
pub const MPI_TYPE_NULL_DELETE_FN: Handle = 0;
pub const MPI_WIN_NULL_COPY_FN: Handle = 0;
pub const MPI_WIN_DUP_FN: Handle = 0x1;
pub const MPI_WIN_NULL_DELETE_FN: Handle = 0;

// Predefined conversion callbacks
pub const MPI_CONVERSION_FN_NULL: Handle = 0;
pub const MPI_CONVERSION_FN_NULL_C: Handle = 0;

// Tools: handles
pub const MPI_T_ENUM_NULL: Handle = 0;
pub const MPI_T_CVAR_HANDLE_NULL: Handle = 0;
pub const MPI_T_PVAR_SESSION_NULL: Handle = 0;
pub const MPI_T_PVAR_HANDLE_NULL: Handle = 0;
pub const MPI_T_PVAR_ALL_HANDLES: Handle = 1;

// Tools: what a callback may do
pub const MPI_T_CB_REQUIRE_NONE: c_int = 0x0;
pub const MPI_T_CB_REQUIRE_MPI_RESTRICTED: c_int = 0x3;
pub const MPI_T_CB_REQUIRE_THREAD_SAFE: c_int = 0xf;
pub const MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE: c_int = 0x3F;

// Tools: order of events
pub const MPI_T_SOURCE_ORDERED: c_int = 1;
pub const MPI_T_SOURCE_UNORDERED: c_int = 2;

// Tools: verbosity
pub const MPI_T_VERBOSITY_USER_BASIC: c_int = 0x9;
pub const MPI_T_VERBOSITY_USER_DETAIL: c_int = 0xa;
pub const MPI_T_VERBOSITY_USER_ALL: c_int = 0xc;
pub const MPI_T_VERBOSITY_TUNER_BASIC: c_int = 0x11;
pub const MPI_T_VERBOSITY_TUNER_DETAIL: c_int = 0x12;
pub const MPI_T_VERBOSITY_TUNER_ALL: c_int = 0x14;
pub const MPI_T_VERBOSITY_MPIDEV_BASIC: c_int = 0x21;
pub const MPI_T_VERBOSITY_MPIDEV_DETAIL: c_int = 0x22;
pub const MPI_T_VERBOSITY_MPIDEV_ALL: c_int = 0x24;

// Tools: what a variable is bound to
pub const MPI_T_BIND_NO_OBJECT: c_int = 1;
pub const MPI_T_BIND_MPI_COMM: c_int = 2;
pub const MPI_T_BIND_MPI_DATATYPE: c_int = 3;
pub const MPI_T_BIND_MPI_ERRHANDLER: c_int = 4;
pub const MPI_T_BIND_MPI_FILE: c_int = 5;
pub const MPI_T_BIND_MPI_GROUP: c_int = 6;
pub const MPI_T_BIND_MPI_OP: c_int = 7;
pub const MPI_T_BIND_MPI_REQUEST: c_int = 8;
pub const MPI_T_BIND_MPI_WIN: c_int = 9;
pub const MPI_T_BIND_MPI_MESSAGE: c_int = 10;
pub const MPI_T_BIND_MPI_INFO: c_int = 11;
pub const MPI_T_BIND_MPI_SESSION: c_int = 12;

// Tools: scope of a control variable
pub const MPI_T_SCOPE_CONSTANT: c_int = 1;
pub const MPI_T_SCOPE_READONLY: c_int = 2;
pub const MPI_T_SCOPE_LOCAL: c_int = 3;
pub const MPI_T_SCOPE_GROUP: c_int = 4;
pub const MPI_T_SCOPE_GROUP_EQ: c_int = 5;
pub const MPI_T_SCOPE_ALL: c_int = 6;
pub const MPI_T_SCOPE_ALL_EQ: c_int = 7;

// Tools: classes of performance variables
pub const MPI_T_PVAR_CLASS_STATE: c_int = 1;
pub const MPI_T_PVAR_CLASS_LEVEL: c_int = 2;
pub const MPI_T_PVAR_CLASS_SIZE: c_int = 3;
pub const MPI_T_PVAR_CLASS_PERCENTAGE: c_int = 4;
pub const MPI_T_PVAR_CLASS_HIGHWATERMARK: c_int = 5;
pub const MPI_T_PVAR_CLASS_LOWWATERMARK: c_int = 6;
pub const MPI_T_PVAR_CLASS_COUNTER: c_int = 7;
pub const MPI_T_PVAR_CLASS_AGGREGATE: c_int = 8;
pub const MPI_T_PVAR_CLASS_TIMER: c_int = 9;
pub const MPI_T_PVAR_CLASS_GENERIC: c_int = 10;

/// Every function of the ABI by its `MPI_` name, by chapter; each has a `PMPI_` name too.
#[rustfmt::skip]
pub const FUNCTIONS: &[&str] = &[
    "MPI_Abi_get_fortran_booleans", "MPI_Abi_get_fortran_info", "MPI_Abi_get_info", "MPI_Abi_get_version",
    "MPI_Abi_set_fortran_booleans", "MPI_Abi_set_fortran_info", "MPI_Abort", "MPI_Alloc_mem", "MPI_Finalize",
    "MPI_Finalized", "MPI_Free_mem", "MPI_Get_hw_resource_info", "MPI_Get_library_version", "MPI_Get_processor_name",
    "MPI_Get_version", "MPI_Init", "MPI_Init_thread", "MPI_Initialized", "MPI_Is_thread_main", "MPI_Pcontrol",
    "MPI_Query_thread", "MPI_Wtick", "MPI_Wtime", "MPI_Bsend", "MPI_Bsend_c", "MPI_Bsend_init", "MPI_Bsend_init_c",
    "MPI_Buffer_attach", "MPI_Buffer_attach_c", "MPI_Buffer_detach", "MPI_Buffer_detach_c", "MPI_Buffer_flush",
    "MPI_Buffer_iflush", "MPI_Cancel", "MPI_Comm_attach_buffer", "MPI_Comm_attach_buffer_c", "MPI_Comm_detach_buffer",
    "MPI_Comm_detach_buffer_c", "MPI_Comm_flush_buffer", "MPI_Comm_iflush_buffer", "MPI_Get_count", "MPI_Get_count_c",
    "MPI_Grequest_complete", "MPI_Grequest_start", "MPI_Ibsend", "MPI_Ibsend_c", "MPI_Improbe", "MPI_Imrecv",
    "MPI_Imrecv_c", "MPI_Iprobe", "MPI_Irecv", "MPI_Irecv_c", "MPI_Irsend", "MPI_Irsend_c", "MPI_Isend",
    "MPI_Isend_c", "MPI_Isendrecv", "MPI_Isendrecv_c", "MPI_Isendrecv_replace", "MPI_Isendrecv_replace_c",
    "MPI_Issend", "MPI_Issend_c", "MPI_Mprobe", "MPI_Mrecv", "MPI_Mrecv_c", "MPI_Probe", "MPI_Recv", "MPI_Recv_c",
    "MPI_Recv_init", "MPI_Recv_init_c", "MPI_Request_free", "MPI_Request_get_status", "MPI_Request_get_status_all",
    "MPI_Request_get_status_any", "MPI_Request_get_status_some", "MPI_Rsend", "MPI_Rsend_c", "MPI_Rsend_init",
    "MPI_Rsend_init_c", "MPI_Send", "MPI_Send_c", "MPI_Send_init", "MPI_Send_init_c", "MPI_Sendrecv",
    "MPI_Sendrecv_c", "MPI_Sendrecv_replace", "MPI_Sendrecv_replace_c", "MPI_Session_attach_buffer",
    "MPI_Session_attach_buffer_c", "MPI_Session_detach_buffer", "MPI_Session_detach_buffer_c",
    "MPI_Session_flush_buffer", "MPI_Session_iflush_buffer", "MPI_Ssend", "MPI_Ssend_c", "MPI_Ssend_init",
    "MPI_Ssend_init_c", "MPI_Start", "MPI_Startall", "MPI_Status_get_error", "MPI_Status_get_source",
    "MPI_Status_get_tag", "MPI_Status_set_cancelled", "MPI_Status_set_error", "MPI_Status_set_source",
    "MPI_Status_set_tag", "MPI_Test", "MPI_Test_cancelled", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Wait",
    "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Get_address", "MPI_Get_elements", "MPI_Get_elements_c",
    "MPI_Get_elements_x", "MPI_Pack", "MPI_Pack_c", "MPI_Pack_external", "MPI_Pack_external_c",
    "MPI_Pack_external_size", "MPI_Pack_external_size_c", "MPI_Pack_size", "MPI_Pack_size_c",
    "MPI_Status_set_elements", "MPI_Status_set_elements_c", "MPI_Status_set_elements_x", "MPI_Type_commit",
    "MPI_Type_contiguous", "MPI_Type_contiguous_c", "MPI_Type_create_darray", "MPI_Type_create_darray_c",
    "MPI_Type_create_f90_complex", "MPI_Type_create_f90_integer", "MPI_Type_create_f90_real",
    "MPI_Type_create_hindexed", "MPI_Type_create_hindexed_c", "MPI_Type_create_hindexed_block",
    "MPI_Type_create_hindexed_block_c", "MPI_Type_create_hvector", "MPI_Type_create_hvector_c",
    "MPI_Type_create_indexed_block", "MPI_Type_create_indexed_block_c", "MPI_Type_create_resized",
    "MPI_Type_create_resized_c", "MPI_Type_create_struct", "MPI_Type_create_struct_c", "MPI_Type_create_subarray",
    "MPI_Type_create_subarray_c", "MPI_Type_dup", "MPI_Type_free", "MPI_Type_get_contents", "MPI_Type_get_contents_c",
    "MPI_Type_get_envelope", "MPI_Type_get_envelope_c", "MPI_Type_get_extent", "MPI_Type_get_extent_c",
    "MPI_Type_get_extent_x", "MPI_Type_get_name", "MPI_Type_get_true_extent", "MPI_Type_get_true_extent_c",
    "MPI_Type_get_true_extent_x", "MPI_Type_get_value_index", "MPI_Type_indexed", "MPI_Type_indexed_c",
    "MPI_Type_match_size", "MPI_Type_set_name", "MPI_Type_size", "MPI_Type_size_c", "MPI_Type_size_x",
    "MPI_Type_vector", "MPI_Type_vector_c", "MPI_Unpack", "MPI_Unpack_c", "MPI_Unpack_external",
    "MPI_Unpack_external_c", "MPI_Aint_add", "MPI_Aint_diff", "MPI_Allgather", "MPI_Allgather_c",
    "MPI_Allgather_init", "MPI_Allgather_init_c", "MPI_Allgatherv", "MPI_Allgatherv_c", "MPI_Allgatherv_init",
    "MPI_Allgatherv_init_c", "MPI_Allreduce", "MPI_Allreduce_c", "MPI_Allreduce_init", "MPI_Allreduce_init_c",
    "MPI_Alltoall", "MPI_Alltoall_c", "MPI_Alltoall_init", "MPI_Alltoall_init_c", "MPI_Alltoallv", "MPI_Alltoallv_c",
    "MPI_Alltoallv_init", "MPI_Alltoallv_init_c", "MPI_Alltoallw", "MPI_Alltoallw_c", "MPI_Alltoallw_init",
    "MPI_Alltoallw_init_c", "MPI_Barrier", "MPI_Barrier_init", "MPI_Bcast", "MPI_Bcast_c", "MPI_Bcast_init",
    "MPI_Bcast_init_c", "MPI_Exscan", "MPI_Exscan_c", "MPI_Exscan_init", "MPI_Exscan_init_c", "MPI_Gather",
    "MPI_Gather_c", "MPI_Gather_init", "MPI_Gather_init_c", "MPI_Gatherv", "MPI_Gatherv_c", "MPI_Gatherv_init",
    "MPI_Gatherv_init_c", "MPI_Iallgather", "MPI_Iallgather_c", "MPI_Iallgatherv", "MPI_Iallgatherv_c",
    "MPI_Iallreduce", "MPI_Iallreduce_c", "MPI_Ialltoall", "MPI_Ialltoall_c", "MPI_Ialltoallv", "MPI_Ialltoallv_c",
    "MPI_Ialltoallw", "MPI_Ialltoallw_c", "MPI_Ibarrier", "MPI_Ibcast", "MPI_Ibcast_c", "MPI_Iexscan",
    "MPI_Iexscan_c", "MPI_Igather", "MPI_Igather_c", "MPI_Igatherv", "MPI_Igatherv_c", "MPI_Ireduce", "MPI_Ireduce_c",
    "MPI_Ireduce_scatter", "MPI_Ireduce_scatter_c", "MPI_Ireduce_scatter_block", "MPI_Ireduce_scatter_block_c",
    "MPI_Iscan", "MPI_Iscan_c", "MPI_Iscatter", "MPI_Iscatter_c", "MPI_Iscatterv", "MPI_Iscatterv_c",
    "MPI_Op_commutative", "MPI_Op_create", "MPI_Op_create_c", "MPI_Op_free", "MPI_Reduce", "MPI_Reduce_c",
    "MPI_Reduce_init", "MPI_Reduce_init_c", "MPI_Reduce_local", "MPI_Reduce_local_c", "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_c", "MPI_Reduce_scatter_block", "MPI_Reduce_scatter_block_c", "MPI_Reduce_scatter_block_init",
    "MPI_Reduce_scatter_block_init_c", "MPI_Reduce_scatter_init", "MPI_Reduce_scatter_init_c", "MPI_Scan",
    "MPI_Scan_c", "MPI_Scan_init", "MPI_Scan_init_c", "MPI_Scatter", "MPI_Scatter_c", "MPI_Scatter_init",
    "MPI_Scatter_init_c", "MPI_Scatterv", "MPI_Scatterv_c", "MPI_Scatterv_init", "MPI_Scatterv_init_c",
    "MPI_Ineighbor_allgather", "MPI_Ineighbor_allgather_c", "MPI_Ineighbor_allgatherv", "MPI_Ineighbor_allgatherv_c",
    "MPI_Ineighbor_alltoall", "MPI_Ineighbor_alltoall_c", "MPI_Ineighbor_alltoallv", "MPI_Ineighbor_alltoallv_c",
    "MPI_Ineighbor_alltoallw", "MPI_Ineighbor_alltoallw_c", "MPI_Neighbor_allgather", "MPI_Neighbor_allgather_c",
    "MPI_Neighbor_allgather_init", "MPI_Neighbor_allgather_init_c", "MPI_Neighbor_allgatherv",
    "MPI_Neighbor_allgatherv_c", "MPI_Neighbor_allgatherv_init", "MPI_Neighbor_allgatherv_init_c",
    "MPI_Neighbor_alltoall", "MPI_Neighbor_alltoall_c", "MPI_Neighbor_alltoall_init", "MPI_Neighbor_alltoall_init_c",
    "MPI_Neighbor_alltoallv", "MPI_Neighbor_alltoallv_c", "MPI_Neighbor_alltoallv_init",
    "MPI_Neighbor_alltoallv_init_c", "MPI_Neighbor_alltoallw", "MPI_Neighbor_alltoallw_c",
    "MPI_Neighbor_alltoallw_init", "MPI_Neighbor_alltoallw_init_c", "MPI_Group_compare", "MPI_Group_difference",
    "MPI_Group_excl", "MPI_Group_free", "MPI_Group_incl", "MPI_Group_intersection", "MPI_Group_range_excl",
    "MPI_Group_range_incl", "MPI_Group_rank", "MPI_Group_size", "MPI_Group_translate_ranks", "MPI_Group_union",
    "MPI_Comm_compare", "MPI_Comm_create", "MPI_Comm_create_group", "MPI_Comm_dup", "MPI_Comm_dup_with_info",
    "MPI_Comm_free", "MPI_Comm_get_info", "MPI_Comm_get_name", "MPI_Comm_group", "MPI_Comm_idup",
    "MPI_Comm_idup_with_info", "MPI_Comm_rank", "MPI_Comm_remote_group", "MPI_Comm_remote_size", "MPI_Comm_set_info",
    "MPI_Comm_set_name", "MPI_Comm_size", "MPI_Comm_split", "MPI_Comm_split_type", "MPI_Comm_test_inter",
    "MPI_Intercomm_create", "MPI_Intercomm_merge", "MPI_Attr_delete", "MPI_Attr_get", "MPI_Attr_put",
    "MPI_Comm_create_keyval", "MPI_Comm_delete_attr", "MPI_Comm_free_keyval", "MPI_Comm_get_attr",
    "MPI_Comm_set_attr", "MPI_Keyval_create", "MPI_Keyval_free", "MPI_Type_create_keyval", "MPI_Type_delete_attr",
    "MPI_Type_free_keyval", "MPI_Type_get_attr", "MPI_Type_set_attr", "MPI_Win_create_keyval", "MPI_Win_delete_attr",
    "MPI_Win_free_keyval", "MPI_Win_get_attr", "MPI_Win_set_attr", "MPI_Cart_coords", "MPI_Cart_create",
    "MPI_Cart_get", "MPI_Cart_map", "MPI_Cart_rank", "MPI_Cart_shift", "MPI_Cart_sub", "MPI_Cartdim_get",
    "MPI_Dims_create", "MPI_Dist_graph_create", "MPI_Dist_graph_create_adjacent", "MPI_Dist_graph_neighbors",
    "MPI_Dist_graph_neighbors_count", "MPI_Graph_create", "MPI_Graph_get", "MPI_Graph_map", "MPI_Graph_neighbors",
    "MPI_Graph_neighbors_count", "MPI_Graphdims_get", "MPI_Topo_test", "MPI_Add_error_class", "MPI_Add_error_code",
    "MPI_Add_error_string", "MPI_Comm_call_errhandler", "MPI_Comm_create_errhandler", "MPI_Comm_get_errhandler",
    "MPI_Comm_set_errhandler", "MPI_Errhandler_free", "MPI_Error_class", "MPI_Error_string", "MPI_Remove_error_class",
    "MPI_Remove_error_code", "MPI_Remove_error_string", "MPI_Session_call_errhandler",
    "MPI_Session_create_errhandler", "MPI_Session_get_errhandler", "MPI_Session_set_errhandler",
    "MPI_Win_call_errhandler", "MPI_Win_create_errhandler", "MPI_Win_get_errhandler", "MPI_Win_set_errhandler",
    "MPI_Info_create", "MPI_Info_create_env", "MPI_Info_delete", "MPI_Info_dup", "MPI_Info_free", "MPI_Info_get",
    "MPI_Info_get_nkeys", "MPI_Info_get_nthkey", "MPI_Info_get_string", "MPI_Info_get_valuelen", "MPI_Info_set",
    "MPI_Comm_fromint", "MPI_Comm_toint", "MPI_Errhandler_fromint", "MPI_Errhandler_toint", "MPI_File_fromint",
    "MPI_File_toint", "MPI_Group_fromint", "MPI_Group_toint", "MPI_Info_fromint", "MPI_Info_toint",
    "MPI_Message_fromint", "MPI_Message_toint", "MPI_Op_fromint", "MPI_Op_toint", "MPI_Request_fromint",
    "MPI_Request_toint", "MPI_Session_fromint", "MPI_Session_toint", "MPI_Type_fromint", "MPI_Type_toint",
    "MPI_Win_fromint", "MPI_Win_toint", "MPI_Parrived", "MPI_Pready", "MPI_Pready_list", "MPI_Pready_range",
    "MPI_Precv_init", "MPI_Psend_init", "MPI_Accumulate", "MPI_Accumulate_c", "MPI_Compare_and_swap",
    "MPI_Fetch_and_op", "MPI_Get", "MPI_Get_c", "MPI_Get_accumulate", "MPI_Get_accumulate_c", "MPI_Put", "MPI_Put_c",
    "MPI_Raccumulate", "MPI_Raccumulate_c", "MPI_Rget", "MPI_Rget_c", "MPI_Rget_accumulate", "MPI_Rget_accumulate_c",
    "MPI_Rput", "MPI_Rput_c", "MPI_Win_allocate", "MPI_Win_allocate_c", "MPI_Win_allocate_shared",
    "MPI_Win_allocate_shared_c", "MPI_Win_attach", "MPI_Win_complete", "MPI_Win_create", "MPI_Win_create_c",
    "MPI_Win_create_dynamic", "MPI_Win_detach", "MPI_Win_fence", "MPI_Win_flush", "MPI_Win_flush_all",
    "MPI_Win_flush_local", "MPI_Win_flush_local_all", "MPI_Win_free", "MPI_Win_get_group", "MPI_Win_get_info",
    "MPI_Win_get_name", "MPI_Win_lock", "MPI_Win_lock_all", "MPI_Win_post", "MPI_Win_set_info", "MPI_Win_set_name",
    "MPI_Win_shared_query", "MPI_Win_shared_query_c", "MPI_Win_start", "MPI_Win_sync", "MPI_Win_test",
    "MPI_Win_unlock", "MPI_Win_unlock_all", "MPI_Win_wait", "MPI_File_call_errhandler", "MPI_File_close",
    "MPI_File_create_errhandler", "MPI_File_delete", "MPI_File_get_amode", "MPI_File_get_atomicity",
    "MPI_File_get_byte_offset", "MPI_File_get_errhandler", "MPI_File_get_group", "MPI_File_get_info",
    "MPI_File_get_position", "MPI_File_get_position_shared", "MPI_File_get_size", "MPI_File_get_type_extent",
    "MPI_File_get_type_extent_c", "MPI_File_get_view", "MPI_File_iread", "MPI_File_iread_c", "MPI_File_iread_all",
    "MPI_File_iread_all_c", "MPI_File_iread_at", "MPI_File_iread_at_c", "MPI_File_iread_at_all",
    "MPI_File_iread_at_all_c", "MPI_File_iread_shared", "MPI_File_iread_shared_c", "MPI_File_iwrite",
    "MPI_File_iwrite_c", "MPI_File_iwrite_all", "MPI_File_iwrite_all_c", "MPI_File_iwrite_at", "MPI_File_iwrite_at_c",
    "MPI_File_iwrite_at_all", "MPI_File_iwrite_at_all_c", "MPI_File_iwrite_shared", "MPI_File_iwrite_shared_c",
    "MPI_File_open", "MPI_File_preallocate", "MPI_File_read", "MPI_File_read_c", "MPI_File_read_all",
    "MPI_File_read_all_c", "MPI_File_read_all_begin", "MPI_File_read_all_begin_c", "MPI_File_read_all_end",
    "MPI_File_read_at", "MPI_File_read_at_c", "MPI_File_read_at_all", "MPI_File_read_at_all_c",
    "MPI_File_read_at_all_begin", "MPI_File_read_at_all_begin_c", "MPI_File_read_at_all_end", "MPI_File_read_ordered",
    "MPI_File_read_ordered_c", "MPI_File_read_ordered_begin", "MPI_File_read_ordered_begin_c",
    "MPI_File_read_ordered_end", "MPI_File_read_shared", "MPI_File_read_shared_c", "MPI_File_seek",
    "MPI_File_seek_shared", "MPI_File_set_atomicity", "MPI_File_set_errhandler", "MPI_File_set_info",
    "MPI_File_set_size", "MPI_File_set_view", "MPI_File_sync", "MPI_File_write", "MPI_File_write_c",
    "MPI_File_write_all", "MPI_File_write_all_c", "MPI_File_write_all_begin", "MPI_File_write_all_begin_c",
    "MPI_File_write_all_end", "MPI_File_write_at", "MPI_File_write_at_c", "MPI_File_write_at_all",
    "MPI_File_write_at_all_c", "MPI_File_write_at_all_begin", "MPI_File_write_at_all_begin_c",
    "MPI_File_write_at_all_end", "MPI_File_write_ordered", "MPI_File_write_ordered_c", "MPI_File_write_ordered_begin",
    "MPI_File_write_ordered_begin_c", "MPI_File_write_ordered_end", "MPI_File_write_shared",
    "MPI_File_write_shared_c", "MPI_Register_datarep", "MPI_Register_datarep_c", "MPI_Close_port", "MPI_Comm_accept",
    "MPI_Comm_connect", "MPI_Comm_disconnect", "MPI_Comm_get_parent", "MPI_Comm_join", "MPI_Comm_spawn",
    "MPI_Comm_spawn_multiple", "MPI_Lookup_name", "MPI_Open_port", "MPI_Publish_name", "MPI_Unpublish_name",
    "MPI_Comm_create_from_group", "MPI_Group_from_session_pset", "MPI_Intercomm_create_from_groups",
    "MPI_Session_finalize", "MPI_Session_get_info", "MPI_Session_get_nth_pset", "MPI_Session_get_num_psets",
    "MPI_Session_get_pset_info", "MPI_Session_init", "MPI_T_category_changed", "MPI_T_category_get_categories",
    "MPI_T_category_get_cvars", "MPI_T_category_get_events", "MPI_T_category_get_index", "MPI_T_category_get_info",
    "MPI_T_category_get_num", "MPI_T_category_get_num_events", "MPI_T_category_get_pvars", "MPI_T_cvar_get_index",
    "MPI_T_cvar_get_info", "MPI_T_cvar_get_num", "MPI_T_cvar_handle_alloc", "MPI_T_cvar_handle_free",
    "MPI_T_cvar_read", "MPI_T_cvar_write", "MPI_T_enum_get_info", "MPI_T_enum_get_item",
    "MPI_T_event_callback_get_info", "MPI_T_event_callback_set_info", "MPI_T_event_copy", "MPI_T_event_get_index",
    "MPI_T_event_get_info", "MPI_T_event_get_num", "MPI_T_event_get_source", "MPI_T_event_get_timestamp",
    "MPI_T_event_handle_alloc", "MPI_T_event_handle_free", "MPI_T_event_handle_get_info",
    "MPI_T_event_handle_set_info", "MPI_T_event_read", "MPI_T_event_register_callback",
    "MPI_T_event_set_dropped_handler", "MPI_T_finalize", "MPI_T_init_thread", "MPI_T_pvar_get_index",
    "MPI_T_pvar_get_info", "MPI_T_pvar_get_num", "MPI_T_pvar_handle_alloc", "MPI_T_pvar_handle_free",
    "MPI_T_pvar_read", "MPI_T_pvar_readreset", "MPI_T_pvar_reset", "MPI_T_pvar_session_create",
    "MPI_T_pvar_session_free", "MPI_T_pvar_start", "MPI_T_pvar_stop", "MPI_T_pvar_write", "MPI_T_source_get_info",
    "MPI_T_source_get_num", "MPI_T_source_get_timestamp", "MPI_Address", "MPI_Errhandler_create",
    "MPI_Errhandler_get", "MPI_Errhandler_set", "MPI_Type_extent", "MPI_Type_hindexed", "MPI_Type_hvector",
    "MPI_Type_lb", "MPI_Type_struct", "MPI_Type_ub",
];
