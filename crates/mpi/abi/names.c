/* Every function's two names. MPI_X is weak, so that a tool can replace it, and jumps to PMPI_X. PMPI_X is
 * weak here: it says that the function is not supported, unless the library has its own PMPI_X.
 * Made by crates/mpi/abi/generate.py from the tables beside it; edit those. */
#include <mpi.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

#if defined(__x86_64__)
#define JUMP "jmp"
#define FUNCTION "@function"
#elif defined(__aarch64__)
#define JUMP "b"
#define FUNCTION "%function"
#else
#error "names.c knows the jump instruction of x86-64 and aarch64 only"
#endif

#define NAME(X)                                                                          \
    __asm__(".pushsection .text." #X ",\"ax\"\n.balign 16\n.weak " #X "\n.type " #X ", " FUNCTION \
            "\n" #X ": " JUMP " P" #X "\n.size " #X ", . - " #X "\n.popsection");
#define DEFAULT __attribute__((weak))

/* Says that a function is not supported, as the error handler wants it, and gives the code. */
int cellweave_unsupported(const char *function);

/* Variable arguments are C's alone: the library is told the level. */
void cellweave_pcontrol(int level) __attribute__((weak));
int PMPI_Pcontrol(const int level, ...)
{
    if (cellweave_pcontrol) cellweave_pcontrol(level);
    return MPI_SUCCESS;
}

/* Environment */
NAME(MPI_Abi_get_fortran_booleans)
DEFAULT int PMPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false,
    int *is_set)
{ return cellweave_unsupported("MPI_Abi_get_fortran_booleans"); }
NAME(MPI_Abi_get_fortran_info)
DEFAULT int PMPI_Abi_get_fortran_info(MPI_Info *info)
{ if (info) *info = MPI_INFO_NULL; return cellweave_unsupported("MPI_Abi_get_fortran_info"); }
NAME(MPI_Abi_get_info)
DEFAULT int PMPI_Abi_get_info(MPI_Info *info)
{ if (info) *info = MPI_INFO_NULL; return cellweave_unsupported("MPI_Abi_get_info"); }
NAME(MPI_Abi_get_version)
DEFAULT int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{ return cellweave_unsupported("MPI_Abi_get_version"); }
NAME(MPI_Abi_set_fortran_booleans)
DEFAULT int PMPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{ return cellweave_unsupported("MPI_Abi_set_fortran_booleans"); }
NAME(MPI_Abi_set_fortran_info)
DEFAULT int PMPI_Abi_set_fortran_info(MPI_Info info)
{ return cellweave_unsupported("MPI_Abi_set_fortran_info"); }
NAME(MPI_Abort)
DEFAULT int PMPI_Abort(MPI_Comm comm, int errorcode)
{ return cellweave_unsupported("MPI_Abort"); }
NAME(MPI_Alloc_mem)
DEFAULT int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{ return cellweave_unsupported("MPI_Alloc_mem"); }
NAME(MPI_Finalize)
DEFAULT int PMPI_Finalize(void)
{ return cellweave_unsupported("MPI_Finalize"); }
NAME(MPI_Finalized)
DEFAULT int PMPI_Finalized(int *flag)
{ return cellweave_unsupported("MPI_Finalized"); }
NAME(MPI_Free_mem)
DEFAULT int PMPI_Free_mem(void *base)
{ return cellweave_unsupported("MPI_Free_mem"); }
NAME(MPI_Get_hw_resource_info)
DEFAULT int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{ if (hw_info) *hw_info = MPI_INFO_NULL; return cellweave_unsupported("MPI_Get_hw_resource_info"); }
NAME(MPI_Get_library_version)
DEFAULT int PMPI_Get_library_version(char *version, int *resultlen)
{ return cellweave_unsupported("MPI_Get_library_version"); }
NAME(MPI_Get_processor_name)
DEFAULT int PMPI_Get_processor_name(char *name, int *resultlen)
{ return cellweave_unsupported("MPI_Get_processor_name"); }
NAME(MPI_Get_version)
DEFAULT int PMPI_Get_version(int *version, int *subversion)
{ return cellweave_unsupported("MPI_Get_version"); }
NAME(MPI_Init)
DEFAULT int PMPI_Init(int *argc, char ***argv)
{ return cellweave_unsupported("MPI_Init"); }
NAME(MPI_Init_thread)
DEFAULT int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{ return cellweave_unsupported("MPI_Init_thread"); }
NAME(MPI_Initialized)
DEFAULT int PMPI_Initialized(int *flag)
{ return cellweave_unsupported("MPI_Initialized"); }
NAME(MPI_Is_thread_main)
DEFAULT int PMPI_Is_thread_main(int *flag)
{ return cellweave_unsupported("MPI_Is_thread_main"); }
NAME(MPI_Pcontrol)
NAME(MPI_Query_thread)
DEFAULT int PMPI_Query_thread(int *provided)
{ return cellweave_unsupported("MPI_Query_thread"); }
NAME(MPI_Wtick)
NAME(MPI_Wtime)

/* Point-to-point */
NAME(MPI_Bsend)
DEFAULT int PMPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Bsend"); }
NAME(MPI_Bsend_c)
DEFAULT int PMPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Bsend_c"); }
NAME(MPI_Bsend_init)
DEFAULT int PMPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Bsend_init"); }
NAME(MPI_Bsend_init_c)
DEFAULT int PMPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Bsend_init_c"); }
NAME(MPI_Buffer_attach)
DEFAULT int PMPI_Buffer_attach(void *buffer, int size)
{ return cellweave_unsupported("MPI_Buffer_attach"); }
NAME(MPI_Buffer_attach_c)
DEFAULT int PMPI_Buffer_attach_c(void *buffer, MPI_Count size)
{ return cellweave_unsupported("MPI_Buffer_attach_c"); }
NAME(MPI_Buffer_detach)
DEFAULT int PMPI_Buffer_detach(void *buffer_addr, int *size)
{ return cellweave_unsupported("MPI_Buffer_detach"); }
NAME(MPI_Buffer_detach_c)
DEFAULT int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{ return cellweave_unsupported("MPI_Buffer_detach_c"); }
NAME(MPI_Buffer_flush)
DEFAULT int PMPI_Buffer_flush(void)
{ return cellweave_unsupported("MPI_Buffer_flush"); }
NAME(MPI_Buffer_iflush)
DEFAULT int PMPI_Buffer_iflush(MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Buffer_iflush"); }
NAME(MPI_Cancel)
DEFAULT int PMPI_Cancel(MPI_Request *request)
{ return cellweave_unsupported("MPI_Cancel"); }
NAME(MPI_Comm_attach_buffer)
DEFAULT int PMPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size)
{ return cellweave_unsupported("MPI_Comm_attach_buffer"); }
NAME(MPI_Comm_attach_buffer_c)
DEFAULT int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size)
{ return cellweave_unsupported("MPI_Comm_attach_buffer_c"); }
NAME(MPI_Comm_detach_buffer)
DEFAULT int PMPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size)
{ return cellweave_unsupported("MPI_Comm_detach_buffer"); }
NAME(MPI_Comm_detach_buffer_c)
DEFAULT int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size)
{ return cellweave_unsupported("MPI_Comm_detach_buffer_c"); }
NAME(MPI_Comm_flush_buffer)
DEFAULT int PMPI_Comm_flush_buffer(MPI_Comm comm)
{ return cellweave_unsupported("MPI_Comm_flush_buffer"); }
NAME(MPI_Comm_iflush_buffer)
DEFAULT int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Comm_iflush_buffer"); }
NAME(MPI_Get_count)
DEFAULT int PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{ return cellweave_unsupported("MPI_Get_count"); }
NAME(MPI_Get_count_c)
DEFAULT int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{ return cellweave_unsupported("MPI_Get_count_c"); }
NAME(MPI_Grequest_complete)
DEFAULT int PMPI_Grequest_complete(MPI_Request request)
{ return cellweave_unsupported("MPI_Grequest_complete"); }
NAME(MPI_Grequest_start)
DEFAULT int PMPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
    MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Grequest_start"); }
NAME(MPI_Ibsend)
DEFAULT int PMPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ibsend"); }
NAME(MPI_Ibsend_c)
DEFAULT int PMPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ibsend_c"); }
NAME(MPI_Improbe)
DEFAULT int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
    MPI_Status *status)
{ if (message) *message = MPI_MESSAGE_NULL; return cellweave_unsupported("MPI_Improbe"); }
NAME(MPI_Imrecv)
DEFAULT int PMPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
    MPI_Request *request)
{ if (message) *message = MPI_MESSAGE_NULL; if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Imrecv"); }
NAME(MPI_Imrecv_c)
DEFAULT int PMPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
    MPI_Request *request)
{ if (message) *message = MPI_MESSAGE_NULL; if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Imrecv_c"); }
NAME(MPI_Iprobe)
DEFAULT int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{ return cellweave_unsupported("MPI_Iprobe"); }
NAME(MPI_Irecv)
DEFAULT int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Irecv"); }
NAME(MPI_Irecv_c)
DEFAULT int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Irecv_c"); }
NAME(MPI_Irsend)
DEFAULT int PMPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Irsend"); }
NAME(MPI_Irsend_c)
DEFAULT int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Irsend_c"); }
NAME(MPI_Isend)
DEFAULT int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Isend"); }
NAME(MPI_Isend_c)
DEFAULT int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Isend_c"); }
NAME(MPI_Isendrecv)
DEFAULT int PMPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
    int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Isendrecv"); }
NAME(MPI_Isendrecv_c)
DEFAULT int PMPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source,
    int recvtag, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Isendrecv_c"); }
NAME(MPI_Isendrecv_replace)
DEFAULT int PMPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
    int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Isendrecv_replace"); }
NAME(MPI_Isendrecv_replace_c)
DEFAULT int PMPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
    int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Isendrecv_replace_c"); }
NAME(MPI_Issend)
DEFAULT int PMPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Issend"); }
NAME(MPI_Issend_c)
DEFAULT int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Issend_c"); }
NAME(MPI_Mprobe)
DEFAULT int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{ if (message) *message = MPI_MESSAGE_NULL; return cellweave_unsupported("MPI_Mprobe"); }
NAME(MPI_Mrecv)
DEFAULT int PMPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
    MPI_Status *status)
{ if (message) *message = MPI_MESSAGE_NULL; return cellweave_unsupported("MPI_Mrecv"); }
NAME(MPI_Mrecv_c)
DEFAULT int PMPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
    MPI_Status *status)
{ if (message) *message = MPI_MESSAGE_NULL; return cellweave_unsupported("MPI_Mrecv_c"); }
NAME(MPI_Probe)
DEFAULT int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{ return cellweave_unsupported("MPI_Probe"); }
NAME(MPI_Recv)
DEFAULT int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_Recv"); }
NAME(MPI_Recv_c)
DEFAULT int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
    MPI_Comm comm, MPI_Status *status)
{ return cellweave_unsupported("MPI_Recv_c"); }
NAME(MPI_Recv_init)
DEFAULT int PMPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Recv_init"); }
NAME(MPI_Recv_init_c)
DEFAULT int PMPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Recv_init_c"); }
NAME(MPI_Request_free)
DEFAULT int PMPI_Request_free(MPI_Request *request)
{ return cellweave_unsupported("MPI_Request_free"); }
NAME(MPI_Request_get_status)
DEFAULT int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{ return cellweave_unsupported("MPI_Request_get_status"); }
NAME(MPI_Request_get_status_all)
DEFAULT int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
    MPI_Status *array_of_statuses)
{ return cellweave_unsupported("MPI_Request_get_status_all"); }
NAME(MPI_Request_get_status_any)
DEFAULT int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *indx,
    int *flag, MPI_Status *status)
{ return cellweave_unsupported("MPI_Request_get_status_any"); }
NAME(MPI_Request_get_status_some)
DEFAULT int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
    int array_of_indices[], MPI_Status *array_of_statuses)
{ return cellweave_unsupported("MPI_Request_get_status_some"); }
NAME(MPI_Rsend)
DEFAULT int PMPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Rsend"); }
NAME(MPI_Rsend_c)
DEFAULT int PMPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Rsend_c"); }
NAME(MPI_Rsend_init)
DEFAULT int PMPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Rsend_init"); }
NAME(MPI_Rsend_init_c)
DEFAULT int PMPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Rsend_init_c"); }
NAME(MPI_Send)
DEFAULT int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Send"); }
NAME(MPI_Send_c)
DEFAULT int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Send_c"); }
NAME(MPI_Send_init)
DEFAULT int PMPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Send_init"); }
NAME(MPI_Send_init_c)
DEFAULT int PMPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Send_init_c"); }
NAME(MPI_Sendrecv)
DEFAULT int PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_Sendrecv"); }
NAME(MPI_Sendrecv_c)
DEFAULT int PMPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source,
    int recvtag, MPI_Comm comm, MPI_Status *status)
{ return cellweave_unsupported("MPI_Sendrecv_c"); }
NAME(MPI_Sendrecv_replace)
DEFAULT int PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
    int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{ return cellweave_unsupported("MPI_Sendrecv_replace"); }
NAME(MPI_Sendrecv_replace_c)
DEFAULT int PMPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
    int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{ return cellweave_unsupported("MPI_Sendrecv_replace_c"); }
NAME(MPI_Session_attach_buffer)
DEFAULT int PMPI_Session_attach_buffer(MPI_Session session, void *buffer, int size)
{ return cellweave_unsupported("MPI_Session_attach_buffer"); }
NAME(MPI_Session_attach_buffer_c)
DEFAULT int PMPI_Session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size)
{ return cellweave_unsupported("MPI_Session_attach_buffer_c"); }
NAME(MPI_Session_detach_buffer)
DEFAULT int PMPI_Session_detach_buffer(MPI_Session session, void *buffer_addr, int *size)
{ return cellweave_unsupported("MPI_Session_detach_buffer"); }
NAME(MPI_Session_detach_buffer_c)
DEFAULT int PMPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size)
{ return cellweave_unsupported("MPI_Session_detach_buffer_c"); }
NAME(MPI_Session_flush_buffer)
DEFAULT int PMPI_Session_flush_buffer(MPI_Session session)
{ return cellweave_unsupported("MPI_Session_flush_buffer"); }
NAME(MPI_Session_iflush_buffer)
DEFAULT int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Session_iflush_buffer"); }
NAME(MPI_Ssend)
DEFAULT int PMPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Ssend"); }
NAME(MPI_Ssend_c)
DEFAULT int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Ssend_c"); }
NAME(MPI_Ssend_init)
DEFAULT int PMPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ssend_init"); }
NAME(MPI_Ssend_init_c)
DEFAULT int PMPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ssend_init_c"); }
NAME(MPI_Start)
DEFAULT int PMPI_Start(MPI_Request *request)
{ return cellweave_unsupported("MPI_Start"); }
NAME(MPI_Startall)
DEFAULT int PMPI_Startall(int count, MPI_Request array_of_requests[])
{ return cellweave_unsupported("MPI_Startall"); }
NAME(MPI_Status_get_error)
DEFAULT int PMPI_Status_get_error(const MPI_Status *status, int *error)
{ return cellweave_unsupported("MPI_Status_get_error"); }
NAME(MPI_Status_get_source)
DEFAULT int PMPI_Status_get_source(const MPI_Status *status, int *source)
{ return cellweave_unsupported("MPI_Status_get_source"); }
NAME(MPI_Status_get_tag)
DEFAULT int PMPI_Status_get_tag(const MPI_Status *status, int *tag)
{ return cellweave_unsupported("MPI_Status_get_tag"); }
NAME(MPI_Status_set_cancelled)
DEFAULT int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{ return cellweave_unsupported("MPI_Status_set_cancelled"); }
NAME(MPI_Status_set_error)
DEFAULT int PMPI_Status_set_error(MPI_Status *status, int error)
{ return cellweave_unsupported("MPI_Status_set_error"); }
NAME(MPI_Status_set_source)
DEFAULT int PMPI_Status_set_source(MPI_Status *status, int source)
{ return cellweave_unsupported("MPI_Status_set_source"); }
NAME(MPI_Status_set_tag)
DEFAULT int PMPI_Status_set_tag(MPI_Status *status, int tag)
{ return cellweave_unsupported("MPI_Status_set_tag"); }
NAME(MPI_Test)
DEFAULT int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{ return cellweave_unsupported("MPI_Test"); }
NAME(MPI_Test_cancelled)
DEFAULT int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{ return cellweave_unsupported("MPI_Test_cancelled"); }
NAME(MPI_Testall)
DEFAULT int PMPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
    MPI_Status *array_of_statuses)
{ return cellweave_unsupported("MPI_Testall"); }
NAME(MPI_Testany)
DEFAULT int PMPI_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_Testany"); }
NAME(MPI_Testsome)
DEFAULT int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
    int array_of_indices[], MPI_Status *array_of_statuses)
{ return cellweave_unsupported("MPI_Testsome"); }
NAME(MPI_Wait)
DEFAULT int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{ return cellweave_unsupported("MPI_Wait"); }
NAME(MPI_Waitall)
DEFAULT int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{ return cellweave_unsupported("MPI_Waitall"); }
NAME(MPI_Waitany)
DEFAULT int PMPI_Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)
{ return cellweave_unsupported("MPI_Waitany"); }
NAME(MPI_Waitsome)
DEFAULT int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
    int array_of_indices[], MPI_Status *array_of_statuses)
{ return cellweave_unsupported("MPI_Waitsome"); }

/* Datatypes */
NAME(MPI_Get_address)
DEFAULT int PMPI_Get_address(const void *location, MPI_Aint *address)
{ return cellweave_unsupported("MPI_Get_address"); }
NAME(MPI_Get_elements)
DEFAULT int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{ return cellweave_unsupported("MPI_Get_elements"); }
NAME(MPI_Get_elements_c)
DEFAULT int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{ return cellweave_unsupported("MPI_Get_elements_c"); }
NAME(MPI_Get_elements_x)
DEFAULT int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{ return cellweave_unsupported("MPI_Get_elements_x"); }
NAME(MPI_Pack)
DEFAULT int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
    int *position, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Pack"); }
NAME(MPI_Pack_c)
DEFAULT int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
    MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Pack_c"); }
NAME(MPI_Pack_external)
DEFAULT int PMPI_Pack_external(const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype,
    void *outbuf, MPI_Aint outsize, MPI_Aint *position)
{ return cellweave_unsupported("MPI_Pack_external"); }
NAME(MPI_Pack_external_c)
DEFAULT int PMPI_Pack_external_c(const char *datarep, const void *inbuf, MPI_Count incount,
    MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position)
{ return cellweave_unsupported("MPI_Pack_external_c"); }
NAME(MPI_Pack_external_size)
DEFAULT int PMPI_Pack_external_size(const char *datarep, int incount, MPI_Datatype datatype,
    MPI_Aint *size)
{ return cellweave_unsupported("MPI_Pack_external_size"); }
NAME(MPI_Pack_external_size_c)
DEFAULT int PMPI_Pack_external_size_c(const char *datarep, MPI_Count incount, MPI_Datatype datatype,
    MPI_Count *size)
{ return cellweave_unsupported("MPI_Pack_external_size_c"); }
NAME(MPI_Pack_size)
DEFAULT int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{ return cellweave_unsupported("MPI_Pack_size"); }
NAME(MPI_Pack_size_c)
DEFAULT int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{ return cellweave_unsupported("MPI_Pack_size_c"); }
NAME(MPI_Status_set_elements)
DEFAULT int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count)
{ return cellweave_unsupported("MPI_Status_set_elements"); }
NAME(MPI_Status_set_elements_c)
DEFAULT int PMPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{ return cellweave_unsupported("MPI_Status_set_elements_c"); }
NAME(MPI_Status_set_elements_x)
DEFAULT int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{ return cellweave_unsupported("MPI_Status_set_elements_x"); }
NAME(MPI_Type_commit)
DEFAULT int PMPI_Type_commit(MPI_Datatype *datatype)
{ if (datatype) *datatype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_commit"); }
NAME(MPI_Type_contiguous)
DEFAULT int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_contiguous"); }
NAME(MPI_Type_contiguous_c)
DEFAULT int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_contiguous_c"); }
NAME(MPI_Type_create_darray)
DEFAULT int PMPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[],
    const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[],
    int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_darray"); }
NAME(MPI_Type_create_darray_c)
DEFAULT int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
    const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[],
    int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_darray_c"); }
NAME(MPI_Type_create_f90_complex)
DEFAULT int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_f90_complex"); }
NAME(MPI_Type_create_f90_integer)
DEFAULT int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_f90_integer"); }
NAME(MPI_Type_create_f90_real)
DEFAULT int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_f90_real"); }
NAME(MPI_Type_create_hindexed)
DEFAULT int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_hindexed"); }
NAME(MPI_Type_create_hindexed_c)
DEFAULT int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_hindexed_c"); }
NAME(MPI_Type_create_hindexed_block)
DEFAULT int PMPI_Type_create_hindexed_block(int count, int blocklength,
    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_hindexed_block"); }
NAME(MPI_Type_create_hindexed_block_c)
DEFAULT int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_hindexed_block_c"); }
NAME(MPI_Type_create_hvector)
DEFAULT int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_hvector"); }
NAME(MPI_Type_create_hvector_c)
DEFAULT int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
    MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_hvector_c"); }
NAME(MPI_Type_create_indexed_block)
DEFAULT int PMPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_indexed_block"); }
NAME(MPI_Type_create_indexed_block_c)
DEFAULT int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_indexed_block_c"); }
NAME(MPI_Type_create_resized)
DEFAULT int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
    MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_resized"); }
NAME(MPI_Type_create_resized_c)
DEFAULT int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
    MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_resized_c"); }
NAME(MPI_Type_create_struct)
DEFAULT int PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[],
    MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_struct"); }
NAME(MPI_Type_create_struct_c)
DEFAULT int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[],
    MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_struct_c"); }
NAME(MPI_Type_create_subarray)
DEFAULT int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
    const int array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_subarray"); }
NAME(MPI_Type_create_subarray_c)
DEFAULT int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
    const MPI_Count array_of_subsizes[], const MPI_Count array_of_starts[], int order,
    MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_create_subarray_c"); }
NAME(MPI_Type_dup)
DEFAULT int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_dup"); }
NAME(MPI_Type_free)
DEFAULT int PMPI_Type_free(MPI_Datatype *datatype)
{ return cellweave_unsupported("MPI_Type_free"); }
NAME(MPI_Type_get_contents)
DEFAULT int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
    int max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
    MPI_Datatype array_of_datatypes[])
{ return cellweave_unsupported("MPI_Type_get_contents"); }
NAME(MPI_Type_get_contents_c)
DEFAULT int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers,
    MPI_Count max_addresses, MPI_Count max_large_counts, MPI_Count max_datatypes,
    int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
    MPI_Datatype array_of_datatypes[])
{ return cellweave_unsupported("MPI_Type_get_contents_c"); }
NAME(MPI_Type_get_envelope)
DEFAULT int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses,
    int *num_datatypes, int *combiner)
{ return cellweave_unsupported("MPI_Type_get_envelope"); }
NAME(MPI_Type_get_envelope_c)
DEFAULT int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers,
    MPI_Count *num_addresses, MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner)
{ return cellweave_unsupported("MPI_Type_get_envelope_c"); }
NAME(MPI_Type_get_extent)
DEFAULT int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{ return cellweave_unsupported("MPI_Type_get_extent"); }
NAME(MPI_Type_get_extent_c)
DEFAULT int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{ return cellweave_unsupported("MPI_Type_get_extent_c"); }
NAME(MPI_Type_get_extent_x)
DEFAULT int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{ return cellweave_unsupported("MPI_Type_get_extent_x"); }
NAME(MPI_Type_get_name)
DEFAULT int PMPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{ return cellweave_unsupported("MPI_Type_get_name"); }
NAME(MPI_Type_get_true_extent)
DEFAULT int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent)
{ return cellweave_unsupported("MPI_Type_get_true_extent"); }
NAME(MPI_Type_get_true_extent_c)
DEFAULT int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{ return cellweave_unsupported("MPI_Type_get_true_extent_c"); }
NAME(MPI_Type_get_true_extent_x)
DEFAULT int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{ return cellweave_unsupported("MPI_Type_get_true_extent_x"); }
NAME(MPI_Type_get_value_index)
DEFAULT int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
    MPI_Datatype *pair_type)
{ if (pair_type) *pair_type = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_get_value_index"); }
NAME(MPI_Type_indexed)
DEFAULT int PMPI_Type_indexed(int count, const int array_of_blocklengths[],
    const int array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_indexed"); }
NAME(MPI_Type_indexed_c)
DEFAULT int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_indexed_c"); }
NAME(MPI_Type_match_size)
DEFAULT int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{ if (datatype) *datatype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_match_size"); }
NAME(MPI_Type_set_name)
DEFAULT int PMPI_Type_set_name(MPI_Datatype datatype, const char *type_name)
{ return cellweave_unsupported("MPI_Type_set_name"); }
NAME(MPI_Type_size)
DEFAULT int PMPI_Type_size(MPI_Datatype datatype, int *size)
{ return cellweave_unsupported("MPI_Type_size"); }
NAME(MPI_Type_size_c)
DEFAULT int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{ return cellweave_unsupported("MPI_Type_size_c"); }
NAME(MPI_Type_size_x)
DEFAULT int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{ return cellweave_unsupported("MPI_Type_size_x"); }
NAME(MPI_Type_vector)
DEFAULT int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_vector"); }
NAME(MPI_Type_vector_c)
DEFAULT int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
    MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_vector_c"); }
NAME(MPI_Unpack)
DEFAULT int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
    MPI_Datatype datatype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Unpack"); }
NAME(MPI_Unpack_c)
DEFAULT int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
    MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Unpack_c"); }
NAME(MPI_Unpack_external)
DEFAULT int PMPI_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize,
    MPI_Aint *position, void *outbuf, int outcount, MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_Unpack_external"); }
NAME(MPI_Unpack_external_c)
DEFAULT int PMPI_Unpack_external_c(const char datarep[], const void *inbuf, MPI_Count insize,
    MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_Unpack_external_c"); }
NAME(MPI_Aint_add)
DEFAULT MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{ return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp); }
NAME(MPI_Aint_diff)
DEFAULT MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{ return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2); }

/* Collectives */
NAME(MPI_Allgather)
DEFAULT int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Allgather"); }
NAME(MPI_Allgather_c)
DEFAULT int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Allgather_c"); }
NAME(MPI_Allgather_init)
DEFAULT int PMPI_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Allgather_init"); }
NAME(MPI_Allgather_init_c)
DEFAULT int PMPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Allgather_init_c"); }
NAME(MPI_Allgatherv)
DEFAULT int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Allgatherv"); }
NAME(MPI_Allgatherv_c)
DEFAULT int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Allgatherv_c"); }
NAME(MPI_Allgatherv_init)
DEFAULT int PMPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Allgatherv_init"); }
NAME(MPI_Allgatherv_init_c)
DEFAULT int PMPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Allgatherv_init_c"); }
NAME(MPI_Allreduce)
DEFAULT int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Allreduce"); }
NAME(MPI_Allreduce_c)
DEFAULT int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Allreduce_c"); }
NAME(MPI_Allreduce_init)
DEFAULT int PMPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Allreduce_init"); }
NAME(MPI_Allreduce_init_c)
DEFAULT int PMPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Allreduce_init_c"); }
NAME(MPI_Alltoall)
DEFAULT int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Alltoall"); }
NAME(MPI_Alltoall_c)
DEFAULT int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Alltoall_c"); }
NAME(MPI_Alltoall_init)
DEFAULT int PMPI_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Alltoall_init"); }
NAME(MPI_Alltoall_init_c)
DEFAULT int PMPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Alltoall_init_c"); }
NAME(MPI_Alltoallv)
DEFAULT int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Alltoallv"); }
NAME(MPI_Alltoallv_c)
DEFAULT int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Alltoallv_c"); }
NAME(MPI_Alltoallv_init)
DEFAULT int PMPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Alltoallv_init"); }
NAME(MPI_Alltoallv_init_c)
DEFAULT int PMPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Alltoallv_init_c"); }
NAME(MPI_Alltoallw)
DEFAULT int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm)
{ return cellweave_unsupported("MPI_Alltoallw"); }
NAME(MPI_Alltoallw_c)
DEFAULT int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{ return cellweave_unsupported("MPI_Alltoallw_c"); }
NAME(MPI_Alltoallw_init)
DEFAULT int PMPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Alltoallw_init"); }
NAME(MPI_Alltoallw_init_c)
DEFAULT int PMPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Alltoallw_init_c"); }
NAME(MPI_Barrier)
DEFAULT int PMPI_Barrier(MPI_Comm comm)
{ return cellweave_unsupported("MPI_Barrier"); }
NAME(MPI_Barrier_init)
DEFAULT int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Barrier_init"); }
NAME(MPI_Bcast)
DEFAULT int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Bcast"); }
NAME(MPI_Bcast_c)
DEFAULT int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Bcast_c"); }
NAME(MPI_Bcast_init)
DEFAULT int PMPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Bcast_init"); }
NAME(MPI_Bcast_init_c)
DEFAULT int PMPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Bcast_init_c"); }
NAME(MPI_Exscan)
DEFAULT int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Exscan"); }
NAME(MPI_Exscan_c)
DEFAULT int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Exscan_c"); }
NAME(MPI_Exscan_init)
DEFAULT int PMPI_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Exscan_init"); }
NAME(MPI_Exscan_init_c)
DEFAULT int PMPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Exscan_init_c"); }
NAME(MPI_Gather)
DEFAULT int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Gather"); }
NAME(MPI_Gather_c)
DEFAULT int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Gather_c"); }
NAME(MPI_Gather_init)
DEFAULT int PMPI_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Gather_init"); }
NAME(MPI_Gather_init_c)
DEFAULT int PMPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Gather_init_c"); }
NAME(MPI_Gatherv)
DEFAULT int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Gatherv"); }
NAME(MPI_Gatherv_c)
DEFAULT int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Gatherv_c"); }
NAME(MPI_Gatherv_init)
DEFAULT int PMPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Gatherv_init"); }
NAME(MPI_Gatherv_init_c)
DEFAULT int PMPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Gatherv_init_c"); }
NAME(MPI_Iallgather)
DEFAULT int PMPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iallgather"); }
NAME(MPI_Iallgather_c)
DEFAULT int PMPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iallgather_c"); }
NAME(MPI_Iallgatherv)
DEFAULT int PMPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iallgatherv"); }
NAME(MPI_Iallgatherv_c)
DEFAULT int PMPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iallgatherv_c"); }
NAME(MPI_Iallreduce)
DEFAULT int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iallreduce"); }
NAME(MPI_Iallreduce_c)
DEFAULT int PMPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iallreduce_c"); }
NAME(MPI_Ialltoall)
DEFAULT int PMPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ialltoall"); }
NAME(MPI_Ialltoall_c)
DEFAULT int PMPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ialltoall_c"); }
NAME(MPI_Ialltoallv)
DEFAULT int PMPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ialltoallv"); }
NAME(MPI_Ialltoallv_c)
DEFAULT int PMPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ialltoallv_c"); }
NAME(MPI_Ialltoallw)
DEFAULT int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ialltoallw"); }
NAME(MPI_Ialltoallw_c)
DEFAULT int PMPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ialltoallw_c"); }
NAME(MPI_Ibarrier)
DEFAULT int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ibarrier"); }
NAME(MPI_Ibcast)
DEFAULT int PMPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ibcast"); }
NAME(MPI_Ibcast_c)
DEFAULT int PMPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ibcast_c"); }
NAME(MPI_Iexscan)
DEFAULT int PMPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iexscan"); }
NAME(MPI_Iexscan_c)
DEFAULT int PMPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iexscan_c"); }
NAME(MPI_Igather)
DEFAULT int PMPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Igather"); }
NAME(MPI_Igather_c)
DEFAULT int PMPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Igather_c"); }
NAME(MPI_Igatherv)
DEFAULT int PMPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Igatherv"); }
NAME(MPI_Igatherv_c)
DEFAULT int PMPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Igatherv_c"); }
NAME(MPI_Ireduce)
DEFAULT int PMPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    int root, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ireduce"); }
NAME(MPI_Ireduce_c)
DEFAULT int PMPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ireduce_c"); }
NAME(MPI_Ireduce_scatter)
DEFAULT int PMPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ireduce_scatter"); }
NAME(MPI_Ireduce_scatter_c)
DEFAULT int PMPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ireduce_scatter_c"); }
NAME(MPI_Ireduce_scatter_block)
DEFAULT int PMPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ireduce_scatter_block"); }
NAME(MPI_Ireduce_scatter_block_c)
DEFAULT int PMPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ireduce_scatter_block_c"); }
NAME(MPI_Iscan)
DEFAULT int PMPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iscan"); }
NAME(MPI_Iscan_c)
DEFAULT int PMPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iscan_c"); }
NAME(MPI_Iscatter)
DEFAULT int PMPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iscatter"); }
NAME(MPI_Iscatter_c)
DEFAULT int PMPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iscatter_c"); }
NAME(MPI_Iscatterv)
DEFAULT int PMPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iscatterv"); }
NAME(MPI_Iscatterv_c)
DEFAULT int PMPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Iscatterv_c"); }
NAME(MPI_Op_commutative)
DEFAULT int PMPI_Op_commutative(MPI_Op op, int *commute)
{ return cellweave_unsupported("MPI_Op_commutative"); }
NAME(MPI_Op_create)
DEFAULT int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{ if (op) *op = MPI_OP_NULL; return cellweave_unsupported("MPI_Op_create"); }
NAME(MPI_Op_create_c)
DEFAULT int PMPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{ if (op) *op = MPI_OP_NULL; return cellweave_unsupported("MPI_Op_create_c"); }
NAME(MPI_Op_free)
DEFAULT int PMPI_Op_free(MPI_Op *op)
{ return cellweave_unsupported("MPI_Op_free"); }
NAME(MPI_Reduce)
DEFAULT int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    int root, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Reduce"); }
NAME(MPI_Reduce_c)
DEFAULT int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Reduce_c"); }
NAME(MPI_Reduce_init)
DEFAULT int PMPI_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Reduce_init"); }
NAME(MPI_Reduce_init_c)
DEFAULT int PMPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Reduce_init_c"); }
NAME(MPI_Reduce_local)
DEFAULT int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype,
    MPI_Op op)
{ return cellweave_unsupported("MPI_Reduce_local"); }
NAME(MPI_Reduce_local_c)
DEFAULT int PMPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op)
{ return cellweave_unsupported("MPI_Reduce_local_c"); }
NAME(MPI_Reduce_scatter)
DEFAULT int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Reduce_scatter"); }
NAME(MPI_Reduce_scatter_c)
DEFAULT int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Reduce_scatter_c"); }
NAME(MPI_Reduce_scatter_block)
DEFAULT int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Reduce_scatter_block"); }
NAME(MPI_Reduce_scatter_block_c)
DEFAULT int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Reduce_scatter_block_c"); }
NAME(MPI_Reduce_scatter_block_init)
DEFAULT int PMPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Reduce_scatter_block_init"); }
NAME(MPI_Reduce_scatter_block_init_c)
DEFAULT int PMPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Reduce_scatter_block_init_c"); }
NAME(MPI_Reduce_scatter_init)
DEFAULT int PMPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Reduce_scatter_init"); }
NAME(MPI_Reduce_scatter_init_c)
DEFAULT int PMPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Reduce_scatter_init_c"); }
NAME(MPI_Scan)
DEFAULT int PMPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Scan"); }
NAME(MPI_Scan_c)
DEFAULT int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Scan_c"); }
NAME(MPI_Scan_init)
DEFAULT int PMPI_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Scan_init"); }
NAME(MPI_Scan_init_c)
DEFAULT int PMPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Scan_init_c"); }
NAME(MPI_Scatter)
DEFAULT int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Scatter"); }
NAME(MPI_Scatter_c)
DEFAULT int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Scatter_c"); }
NAME(MPI_Scatter_init)
DEFAULT int PMPI_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Scatter_init"); }
NAME(MPI_Scatter_init_c)
DEFAULT int PMPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Scatter_init_c"); }
NAME(MPI_Scatterv)
DEFAULT int PMPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Scatterv"); }
NAME(MPI_Scatterv_c)
DEFAULT int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Scatterv_c"); }
NAME(MPI_Scatterv_init)
DEFAULT int PMPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Scatterv_init"); }
NAME(MPI_Scatterv_init_c)
DEFAULT int PMPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Scatterv_init_c"); }

/* Neighbourhood collectives */
NAME(MPI_Ineighbor_allgather)
DEFAULT int PMPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ineighbor_allgather"); }
NAME(MPI_Ineighbor_allgather_c)
DEFAULT int PMPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ineighbor_allgather_c"); }
NAME(MPI_Ineighbor_allgatherv)
DEFAULT int PMPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ineighbor_allgatherv"); }
NAME(MPI_Ineighbor_allgatherv_c)
DEFAULT int PMPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ineighbor_allgatherv_c"); }
NAME(MPI_Ineighbor_alltoall)
DEFAULT int PMPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ineighbor_alltoall"); }
NAME(MPI_Ineighbor_alltoall_c)
DEFAULT int PMPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ineighbor_alltoall_c"); }
NAME(MPI_Ineighbor_alltoallv)
DEFAULT int PMPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ineighbor_alltoallv"); }
NAME(MPI_Ineighbor_alltoallv_c)
DEFAULT int PMPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ineighbor_alltoallv_c"); }
NAME(MPI_Ineighbor_alltoallw)
DEFAULT int PMPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ineighbor_alltoallw"); }
NAME(MPI_Ineighbor_alltoallw_c)
DEFAULT int PMPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Ineighbor_alltoallw_c"); }
NAME(MPI_Neighbor_allgather)
DEFAULT int PMPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Neighbor_allgather"); }
NAME(MPI_Neighbor_allgather_c)
DEFAULT int PMPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Neighbor_allgather_c"); }
NAME(MPI_Neighbor_allgather_init)
DEFAULT int PMPI_Neighbor_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Neighbor_allgather_init"); }
NAME(MPI_Neighbor_allgather_init_c)
DEFAULT int PMPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Neighbor_allgather_init_c"); }
NAME(MPI_Neighbor_allgatherv)
DEFAULT int PMPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Neighbor_allgatherv"); }
NAME(MPI_Neighbor_allgatherv_c)
DEFAULT int PMPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Neighbor_allgatherv_c"); }
NAME(MPI_Neighbor_allgatherv_init)
DEFAULT int PMPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Neighbor_allgatherv_init"); }
NAME(MPI_Neighbor_allgatherv_init_c)
DEFAULT int PMPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Neighbor_allgatherv_init_c"); }
NAME(MPI_Neighbor_alltoall)
DEFAULT int PMPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Neighbor_alltoall"); }
NAME(MPI_Neighbor_alltoall_c)
DEFAULT int PMPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Neighbor_alltoall_c"); }
NAME(MPI_Neighbor_alltoall_init)
DEFAULT int PMPI_Neighbor_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Neighbor_alltoall_init"); }
NAME(MPI_Neighbor_alltoall_init_c)
DEFAULT int PMPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Neighbor_alltoall_init_c"); }
NAME(MPI_Neighbor_alltoallv)
DEFAULT int PMPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Neighbor_alltoallv"); }
NAME(MPI_Neighbor_alltoallv_c)
DEFAULT int PMPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{ return cellweave_unsupported("MPI_Neighbor_alltoallv_c"); }
NAME(MPI_Neighbor_alltoallv_init)
DEFAULT int PMPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Neighbor_alltoallv_init"); }
NAME(MPI_Neighbor_alltoallv_init_c)
DEFAULT int PMPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Neighbor_alltoallv_init_c"); }
NAME(MPI_Neighbor_alltoallw)
DEFAULT int PMPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{ return cellweave_unsupported("MPI_Neighbor_alltoallw"); }
NAME(MPI_Neighbor_alltoallw_c)
DEFAULT int PMPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm)
{ return cellweave_unsupported("MPI_Neighbor_alltoallw_c"); }
NAME(MPI_Neighbor_alltoallw_init)
DEFAULT int PMPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Neighbor_alltoallw_init"); }
NAME(MPI_Neighbor_alltoallw_init_c)
DEFAULT int PMPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Neighbor_alltoallw_init_c"); }

/* Groups */
NAME(MPI_Group_compare)
DEFAULT int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{ return cellweave_unsupported("MPI_Group_compare"); }
NAME(MPI_Group_difference)
DEFAULT int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{ if (newgroup) *newgroup = MPI_GROUP_NULL; return cellweave_unsupported("MPI_Group_difference"); }
NAME(MPI_Group_excl)
DEFAULT int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{ if (newgroup) *newgroup = MPI_GROUP_NULL; return cellweave_unsupported("MPI_Group_excl"); }
NAME(MPI_Group_free)
DEFAULT int PMPI_Group_free(MPI_Group *group)
{ return cellweave_unsupported("MPI_Group_free"); }
NAME(MPI_Group_incl)
DEFAULT int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{ if (newgroup) *newgroup = MPI_GROUP_NULL; return cellweave_unsupported("MPI_Group_incl"); }
NAME(MPI_Group_intersection)
DEFAULT int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{ if (newgroup) *newgroup = MPI_GROUP_NULL; return cellweave_unsupported("MPI_Group_intersection"); }
NAME(MPI_Group_range_excl)
DEFAULT int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{ if (newgroup) *newgroup = MPI_GROUP_NULL; return cellweave_unsupported("MPI_Group_range_excl"); }
NAME(MPI_Group_range_incl)
DEFAULT int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{ if (newgroup) *newgroup = MPI_GROUP_NULL; return cellweave_unsupported("MPI_Group_range_incl"); }
NAME(MPI_Group_rank)
DEFAULT int PMPI_Group_rank(MPI_Group group, int *rank)
{ return cellweave_unsupported("MPI_Group_rank"); }
NAME(MPI_Group_size)
DEFAULT int PMPI_Group_size(MPI_Group group, int *size)
{ return cellweave_unsupported("MPI_Group_size"); }
NAME(MPI_Group_translate_ranks)
DEFAULT int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
    int ranks2[])
{ return cellweave_unsupported("MPI_Group_translate_ranks"); }
NAME(MPI_Group_union)
DEFAULT int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{ if (newgroup) *newgroup = MPI_GROUP_NULL; return cellweave_unsupported("MPI_Group_union"); }

/* Communicators */
NAME(MPI_Comm_compare)
DEFAULT int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{ return cellweave_unsupported("MPI_Comm_compare"); }
NAME(MPI_Comm_create)
DEFAULT int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{ if (newcomm) *newcomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_create"); }
NAME(MPI_Comm_create_group)
DEFAULT int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{ if (newcomm) *newcomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_create_group"); }
NAME(MPI_Comm_dup)
DEFAULT int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{ if (newcomm) *newcomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_dup"); }
NAME(MPI_Comm_dup_with_info)
DEFAULT int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{ if (newcomm) *newcomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_dup_with_info"); }
NAME(MPI_Comm_free)
DEFAULT int PMPI_Comm_free(MPI_Comm *comm)
{ return cellweave_unsupported("MPI_Comm_free"); }
NAME(MPI_Comm_get_info)
DEFAULT int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{ if (info_used) *info_used = MPI_INFO_NULL; return cellweave_unsupported("MPI_Comm_get_info"); }
NAME(MPI_Comm_get_name)
DEFAULT int PMPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)
{ return cellweave_unsupported("MPI_Comm_get_name"); }
NAME(MPI_Comm_group)
DEFAULT int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{ if (group) *group = MPI_GROUP_NULL; return cellweave_unsupported("MPI_Comm_group"); }
NAME(MPI_Comm_idup)
DEFAULT int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{ if (newcomm) *newcomm = MPI_COMM_NULL; if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Comm_idup"); }
NAME(MPI_Comm_idup_with_info)
DEFAULT int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{ if (newcomm) *newcomm = MPI_COMM_NULL; if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Comm_idup_with_info"); }
NAME(MPI_Comm_rank)
DEFAULT int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{ return cellweave_unsupported("MPI_Comm_rank"); }
NAME(MPI_Comm_remote_group)
DEFAULT int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{ if (group) *group = MPI_GROUP_NULL; return cellweave_unsupported("MPI_Comm_remote_group"); }
NAME(MPI_Comm_remote_size)
DEFAULT int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{ return cellweave_unsupported("MPI_Comm_remote_size"); }
NAME(MPI_Comm_set_info)
DEFAULT int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{ return cellweave_unsupported("MPI_Comm_set_info"); }
NAME(MPI_Comm_set_name)
DEFAULT int PMPI_Comm_set_name(MPI_Comm comm, const char *comm_name)
{ return cellweave_unsupported("MPI_Comm_set_name"); }
NAME(MPI_Comm_size)
DEFAULT int PMPI_Comm_size(MPI_Comm comm, int *size)
{ return cellweave_unsupported("MPI_Comm_size"); }
NAME(MPI_Comm_split)
DEFAULT int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{ if (newcomm) *newcomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_split"); }
NAME(MPI_Comm_split_type)
DEFAULT int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{ if (newcomm) *newcomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_split_type"); }
NAME(MPI_Comm_test_inter)
DEFAULT int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{ return cellweave_unsupported("MPI_Comm_test_inter"); }
NAME(MPI_Intercomm_create)
DEFAULT int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
    int remote_leader, int tag, MPI_Comm *newintercomm)
{ if (newintercomm) *newintercomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Intercomm_create"); }
NAME(MPI_Intercomm_merge)
DEFAULT int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{ if (newintracomm) *newintracomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Intercomm_merge"); }

/* Attributes */
NAME(MPI_Attr_delete)
DEFAULT int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{ return cellweave_unsupported("MPI_Attr_delete"); }
NAME(MPI_Attr_get)
DEFAULT int PMPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{ return cellweave_unsupported("MPI_Attr_get"); }
NAME(MPI_Attr_put)
DEFAULT int PMPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val)
{ return cellweave_unsupported("MPI_Attr_put"); }
NAME(MPI_Comm_create_keyval)
DEFAULT int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
    MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, void *extra_state)
{ return cellweave_unsupported("MPI_Comm_create_keyval"); }
NAME(MPI_Comm_delete_attr)
DEFAULT int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval)
{ return cellweave_unsupported("MPI_Comm_delete_attr"); }
NAME(MPI_Comm_free_keyval)
DEFAULT int PMPI_Comm_free_keyval(int *comm_keyval)
{ return cellweave_unsupported("MPI_Comm_free_keyval"); }
NAME(MPI_Comm_get_attr)
DEFAULT int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{ return cellweave_unsupported("MPI_Comm_get_attr"); }
NAME(MPI_Comm_set_attr)
DEFAULT int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)
{ return cellweave_unsupported("MPI_Comm_set_attr"); }
NAME(MPI_Keyval_create)
DEFAULT int PMPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval,
    void *extra_state)
{ return cellweave_unsupported("MPI_Keyval_create"); }
NAME(MPI_Keyval_free)
DEFAULT int PMPI_Keyval_free(int *keyval)
{ return cellweave_unsupported("MPI_Keyval_free"); }
NAME(MPI_Type_create_keyval)
DEFAULT int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
    MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, void *extra_state)
{ return cellweave_unsupported("MPI_Type_create_keyval"); }
NAME(MPI_Type_delete_attr)
DEFAULT int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval)
{ return cellweave_unsupported("MPI_Type_delete_attr"); }
NAME(MPI_Type_free_keyval)
DEFAULT int PMPI_Type_free_keyval(int *type_keyval)
{ return cellweave_unsupported("MPI_Type_free_keyval"); }
NAME(MPI_Type_get_attr)
DEFAULT int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)
{ return cellweave_unsupported("MPI_Type_get_attr"); }
NAME(MPI_Type_set_attr)
DEFAULT int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val)
{ return cellweave_unsupported("MPI_Type_set_attr"); }
NAME(MPI_Win_create_keyval)
DEFAULT int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
    MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state)
{ return cellweave_unsupported("MPI_Win_create_keyval"); }
NAME(MPI_Win_delete_attr)
DEFAULT int PMPI_Win_delete_attr(MPI_Win win, int win_keyval)
{ return cellweave_unsupported("MPI_Win_delete_attr"); }
NAME(MPI_Win_free_keyval)
DEFAULT int PMPI_Win_free_keyval(int *win_keyval)
{ return cellweave_unsupported("MPI_Win_free_keyval"); }
NAME(MPI_Win_get_attr)
DEFAULT int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{ return cellweave_unsupported("MPI_Win_get_attr"); }
NAME(MPI_Win_set_attr)
DEFAULT int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
{ return cellweave_unsupported("MPI_Win_set_attr"); }

/* Topologies */
NAME(MPI_Cart_coords)
DEFAULT int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{ return cellweave_unsupported("MPI_Cart_coords"); }
NAME(MPI_Cart_create)
DEFAULT int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
    int reorder, MPI_Comm *comm_cart)
{ if (comm_cart) *comm_cart = MPI_COMM_NULL; return cellweave_unsupported("MPI_Cart_create"); }
NAME(MPI_Cart_get)
DEFAULT int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{ return cellweave_unsupported("MPI_Cart_get"); }
NAME(MPI_Cart_map)
DEFAULT int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{ return cellweave_unsupported("MPI_Cart_map"); }
NAME(MPI_Cart_rank)
DEFAULT int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{ return cellweave_unsupported("MPI_Cart_rank"); }
NAME(MPI_Cart_shift)
DEFAULT int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{ return cellweave_unsupported("MPI_Cart_shift"); }
NAME(MPI_Cart_sub)
DEFAULT int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{ if (newcomm) *newcomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Cart_sub"); }
NAME(MPI_Cartdim_get)
DEFAULT int PMPI_Cartdim_get(MPI_Comm comm, int *ndims)
{ return cellweave_unsupported("MPI_Cartdim_get"); }
NAME(MPI_Dims_create)
DEFAULT int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{ return cellweave_unsupported("MPI_Dims_create"); }
NAME(MPI_Dist_graph_create)
DEFAULT int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
    const int destinations[], const int *weights, MPI_Info info, int reorder,
    MPI_Comm *comm_dist_graph)
{ if (comm_dist_graph) *comm_dist_graph = MPI_COMM_NULL; return cellweave_unsupported("MPI_Dist_graph_create"); }
NAME(MPI_Dist_graph_create_adjacent)
DEFAULT int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
    const int *sourceweights, int outdegree, const int destinations[], const int *destweights,
    MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{ if (comm_dist_graph) *comm_dist_graph = MPI_COMM_NULL; return cellweave_unsupported("MPI_Dist_graph_create_adjacent"); }
NAME(MPI_Dist_graph_neighbors)
DEFAULT int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int *sourceweights,
    int maxoutdegree, int destinations[], int *destweights)
{ return cellweave_unsupported("MPI_Dist_graph_neighbors"); }
NAME(MPI_Dist_graph_neighbors_count)
DEFAULT int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{ return cellweave_unsupported("MPI_Dist_graph_neighbors_count"); }
NAME(MPI_Graph_create)
DEFAULT int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[],
    int reorder, MPI_Comm *comm_graph)
{ if (comm_graph) *comm_graph = MPI_COMM_NULL; return cellweave_unsupported("MPI_Graph_create"); }
NAME(MPI_Graph_get)
DEFAULT int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[])
{ return cellweave_unsupported("MPI_Graph_get"); }
NAME(MPI_Graph_map)
DEFAULT int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank)
{ return cellweave_unsupported("MPI_Graph_map"); }
NAME(MPI_Graph_neighbors)
DEFAULT int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{ return cellweave_unsupported("MPI_Graph_neighbors"); }
NAME(MPI_Graph_neighbors_count)
DEFAULT int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{ return cellweave_unsupported("MPI_Graph_neighbors_count"); }
NAME(MPI_Graphdims_get)
DEFAULT int PMPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{ return cellweave_unsupported("MPI_Graphdims_get"); }
NAME(MPI_Topo_test)
DEFAULT int PMPI_Topo_test(MPI_Comm comm, int *status)
{ return cellweave_unsupported("MPI_Topo_test"); }

/* Errors */
NAME(MPI_Add_error_class)
DEFAULT int PMPI_Add_error_class(int *errorclass)
{ return cellweave_unsupported("MPI_Add_error_class"); }
NAME(MPI_Add_error_code)
DEFAULT int PMPI_Add_error_code(int errorclass, int *errorcode)
{ return cellweave_unsupported("MPI_Add_error_code"); }
NAME(MPI_Add_error_string)
DEFAULT int PMPI_Add_error_string(int errorcode, const char *string)
{ return cellweave_unsupported("MPI_Add_error_string"); }
NAME(MPI_Comm_call_errhandler)
DEFAULT int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{ return cellweave_unsupported("MPI_Comm_call_errhandler"); }
NAME(MPI_Comm_create_errhandler)
DEFAULT int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn,
    MPI_Errhandler *errhandler)
{ if (errhandler) *errhandler = MPI_ERRHANDLER_NULL; return cellweave_unsupported("MPI_Comm_create_errhandler"); }
NAME(MPI_Comm_get_errhandler)
DEFAULT int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{ if (errhandler) *errhandler = MPI_ERRHANDLER_NULL; return cellweave_unsupported("MPI_Comm_get_errhandler"); }
NAME(MPI_Comm_set_errhandler)
DEFAULT int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{ return cellweave_unsupported("MPI_Comm_set_errhandler"); }
NAME(MPI_Errhandler_free)
DEFAULT int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{ return cellweave_unsupported("MPI_Errhandler_free"); }
NAME(MPI_Error_class)
DEFAULT int PMPI_Error_class(int errorcode, int *errorclass)
{ return cellweave_unsupported("MPI_Error_class"); }
NAME(MPI_Error_string)
DEFAULT int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{ return cellweave_unsupported("MPI_Error_string"); }
NAME(MPI_Remove_error_class)
DEFAULT int PMPI_Remove_error_class(int errorclass)
{ return cellweave_unsupported("MPI_Remove_error_class"); }
NAME(MPI_Remove_error_code)
DEFAULT int PMPI_Remove_error_code(int errorcode)
{ return cellweave_unsupported("MPI_Remove_error_code"); }
NAME(MPI_Remove_error_string)
DEFAULT int PMPI_Remove_error_string(int errorcode)
{ return cellweave_unsupported("MPI_Remove_error_string"); }
NAME(MPI_Session_call_errhandler)
DEFAULT int PMPI_Session_call_errhandler(MPI_Session session, int errorcode)
{ return cellweave_unsupported("MPI_Session_call_errhandler"); }
NAME(MPI_Session_create_errhandler)
DEFAULT int PMPI_Session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn,
    MPI_Errhandler *errhandler)
{ if (errhandler) *errhandler = MPI_ERRHANDLER_NULL; return cellweave_unsupported("MPI_Session_create_errhandler"); }
NAME(MPI_Session_get_errhandler)
DEFAULT int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)
{ if (errhandler) *errhandler = MPI_ERRHANDLER_NULL; return cellweave_unsupported("MPI_Session_get_errhandler"); }
NAME(MPI_Session_set_errhandler)
DEFAULT int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
{ return cellweave_unsupported("MPI_Session_set_errhandler"); }
NAME(MPI_Win_call_errhandler)
DEFAULT int PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{ return cellweave_unsupported("MPI_Win_call_errhandler"); }
NAME(MPI_Win_create_errhandler)
DEFAULT int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn,
    MPI_Errhandler *errhandler)
{ if (errhandler) *errhandler = MPI_ERRHANDLER_NULL; return cellweave_unsupported("MPI_Win_create_errhandler"); }
NAME(MPI_Win_get_errhandler)
DEFAULT int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{ if (errhandler) *errhandler = MPI_ERRHANDLER_NULL; return cellweave_unsupported("MPI_Win_get_errhandler"); }
NAME(MPI_Win_set_errhandler)
DEFAULT int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{ return cellweave_unsupported("MPI_Win_set_errhandler"); }

/* Info */
NAME(MPI_Info_create)
DEFAULT int PMPI_Info_create(MPI_Info *info)
{ if (info) *info = MPI_INFO_NULL; return cellweave_unsupported("MPI_Info_create"); }
NAME(MPI_Info_create_env)
DEFAULT int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{ if (info) *info = MPI_INFO_NULL; return cellweave_unsupported("MPI_Info_create_env"); }
NAME(MPI_Info_delete)
DEFAULT int PMPI_Info_delete(MPI_Info info, const char *key)
{ return cellweave_unsupported("MPI_Info_delete"); }
NAME(MPI_Info_dup)
DEFAULT int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{ if (newinfo) *newinfo = MPI_INFO_NULL; return cellweave_unsupported("MPI_Info_dup"); }
NAME(MPI_Info_free)
DEFAULT int PMPI_Info_free(MPI_Info *info)
{ return cellweave_unsupported("MPI_Info_free"); }
NAME(MPI_Info_get)
DEFAULT int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{ return cellweave_unsupported("MPI_Info_get"); }
NAME(MPI_Info_get_nkeys)
DEFAULT int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{ return cellweave_unsupported("MPI_Info_get_nkeys"); }
NAME(MPI_Info_get_nthkey)
DEFAULT int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{ return cellweave_unsupported("MPI_Info_get_nthkey"); }
NAME(MPI_Info_get_string)
DEFAULT int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)
{ return cellweave_unsupported("MPI_Info_get_string"); }
NAME(MPI_Info_get_valuelen)
DEFAULT int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)
{ return cellweave_unsupported("MPI_Info_get_valuelen"); }
NAME(MPI_Info_set)
DEFAULT int PMPI_Info_set(MPI_Info info, const char *key, const char *value)
{ return cellweave_unsupported("MPI_Info_set"); }

/* Handles as integers */
NAME(MPI_Comm_fromint)
DEFAULT MPI_Comm PMPI_Comm_fromint(int comm)
{ return (MPI_Comm)(intptr_t)comm; }
NAME(MPI_Comm_toint)
DEFAULT int PMPI_Comm_toint(MPI_Comm comm)
{ return (int)(intptr_t)comm; }
NAME(MPI_Errhandler_fromint)
DEFAULT MPI_Errhandler PMPI_Errhandler_fromint(int errhandler)
{ return (MPI_Errhandler)(intptr_t)errhandler; }
NAME(MPI_Errhandler_toint)
DEFAULT int PMPI_Errhandler_toint(MPI_Errhandler errhandler)
{ return (int)(intptr_t)errhandler; }
NAME(MPI_File_fromint)
DEFAULT MPI_File PMPI_File_fromint(int file)
{ return (MPI_File)(intptr_t)file; }
NAME(MPI_File_toint)
DEFAULT int PMPI_File_toint(MPI_File file)
{ return (int)(intptr_t)file; }
NAME(MPI_Group_fromint)
DEFAULT MPI_Group PMPI_Group_fromint(int group)
{ return (MPI_Group)(intptr_t)group; }
NAME(MPI_Group_toint)
DEFAULT int PMPI_Group_toint(MPI_Group group)
{ return (int)(intptr_t)group; }
NAME(MPI_Info_fromint)
DEFAULT MPI_Info PMPI_Info_fromint(int info)
{ return (MPI_Info)(intptr_t)info; }
NAME(MPI_Info_toint)
DEFAULT int PMPI_Info_toint(MPI_Info info)
{ return (int)(intptr_t)info; }
NAME(MPI_Message_fromint)
DEFAULT MPI_Message PMPI_Message_fromint(int message)
{ return (MPI_Message)(intptr_t)message; }
NAME(MPI_Message_toint)
DEFAULT int PMPI_Message_toint(MPI_Message message)
{ return (int)(intptr_t)message; }
NAME(MPI_Op_fromint)
DEFAULT MPI_Op PMPI_Op_fromint(int op)
{ return (MPI_Op)(intptr_t)op; }
NAME(MPI_Op_toint)
DEFAULT int PMPI_Op_toint(MPI_Op op)
{ return (int)(intptr_t)op; }
NAME(MPI_Request_fromint)
DEFAULT MPI_Request PMPI_Request_fromint(int request)
{ return (MPI_Request)(intptr_t)request; }
NAME(MPI_Request_toint)
DEFAULT int PMPI_Request_toint(MPI_Request request)
{ return (int)(intptr_t)request; }
NAME(MPI_Session_fromint)
DEFAULT MPI_Session PMPI_Session_fromint(int session)
{ return (MPI_Session)(intptr_t)session; }
NAME(MPI_Session_toint)
DEFAULT int PMPI_Session_toint(MPI_Session session)
{ return (int)(intptr_t)session; }
NAME(MPI_Type_fromint)
DEFAULT MPI_Datatype PMPI_Type_fromint(int datatype)
{ return (MPI_Datatype)(intptr_t)datatype; }
NAME(MPI_Type_toint)
DEFAULT int PMPI_Type_toint(MPI_Datatype datatype)
{ return (int)(intptr_t)datatype; }
NAME(MPI_Win_fromint)
DEFAULT MPI_Win PMPI_Win_fromint(int win)
{ return (MPI_Win)(intptr_t)win; }
NAME(MPI_Win_toint)
DEFAULT int PMPI_Win_toint(MPI_Win win)
{ return (int)(intptr_t)win; }

/* Partitioned communication */
NAME(MPI_Parrived)
DEFAULT int PMPI_Parrived(MPI_Request request, int partition, int *flag)
{ return cellweave_unsupported("MPI_Parrived"); }
NAME(MPI_Pready)
DEFAULT int PMPI_Pready(int partition, MPI_Request request)
{ return cellweave_unsupported("MPI_Pready"); }
NAME(MPI_Pready_list)
DEFAULT int PMPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request)
{ return cellweave_unsupported("MPI_Pready_list"); }
NAME(MPI_Pready_range)
DEFAULT int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request)
{ return cellweave_unsupported("MPI_Pready_range"); }
NAME(MPI_Precv_init)
DEFAULT int PMPI_Precv_init(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
    int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Precv_init"); }
NAME(MPI_Psend_init)
DEFAULT int PMPI_Psend_init(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
    int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Psend_init"); }

/* One-sided communication */
NAME(MPI_Accumulate)
DEFAULT int PMPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
    MPI_Op op, MPI_Win win)
{ return cellweave_unsupported("MPI_Accumulate"); }
NAME(MPI_Accumulate_c)
DEFAULT int PMPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{ return cellweave_unsupported("MPI_Accumulate_c"); }
NAME(MPI_Compare_and_swap)
DEFAULT int PMPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
    MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{ return cellweave_unsupported("MPI_Compare_and_swap"); }
NAME(MPI_Fetch_and_op)
DEFAULT int PMPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype,
    int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{ return cellweave_unsupported("MPI_Fetch_and_op"); }
NAME(MPI_Get)
DEFAULT int PMPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{ return cellweave_unsupported("MPI_Get"); }
NAME(MPI_Get_c)
DEFAULT int PMPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win)
{ return cellweave_unsupported("MPI_Get_c"); }
NAME(MPI_Get_accumulate)
DEFAULT int PMPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
    void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{ return cellweave_unsupported("MPI_Get_accumulate"); }
NAME(MPI_Get_accumulate_c)
DEFAULT int PMPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{ return cellweave_unsupported("MPI_Get_accumulate_c"); }
NAME(MPI_Put)
DEFAULT int PMPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
    MPI_Win win)
{ return cellweave_unsupported("MPI_Put"); }
NAME(MPI_Put_c)
DEFAULT int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win)
{ return cellweave_unsupported("MPI_Put_c"); }
NAME(MPI_Raccumulate)
DEFAULT int PMPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
    MPI_Op op, MPI_Win win, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Raccumulate"); }
NAME(MPI_Raccumulate_c)
DEFAULT int PMPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Raccumulate_c"); }
NAME(MPI_Rget)
DEFAULT int PMPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Rget"); }
NAME(MPI_Rget_c)
DEFAULT int PMPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Rget_c"); }
NAME(MPI_Rget_accumulate)
DEFAULT int PMPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
    void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Rget_accumulate"); }
NAME(MPI_Rget_accumulate_c)
DEFAULT int PMPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Rget_accumulate_c"); }
NAME(MPI_Rput)
DEFAULT int PMPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
    MPI_Win win, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Rput"); }
NAME(MPI_Rput_c)
DEFAULT int PMPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_Rput_c"); }
NAME(MPI_Win_allocate)
DEFAULT int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
    MPI_Win *win)
{ if (win) *win = MPI_WIN_NULL; return cellweave_unsupported("MPI_Win_allocate"); }
NAME(MPI_Win_allocate_c)
DEFAULT int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    void *baseptr, MPI_Win *win)
{ if (win) *win = MPI_WIN_NULL; return cellweave_unsupported("MPI_Win_allocate_c"); }
NAME(MPI_Win_allocate_shared)
DEFAULT int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
    void *baseptr, MPI_Win *win)
{ if (win) *win = MPI_WIN_NULL; return cellweave_unsupported("MPI_Win_allocate_shared"); }
NAME(MPI_Win_allocate_shared_c)
DEFAULT int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    void *baseptr, MPI_Win *win)
{ if (win) *win = MPI_WIN_NULL; return cellweave_unsupported("MPI_Win_allocate_shared_c"); }
NAME(MPI_Win_attach)
DEFAULT int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{ return cellweave_unsupported("MPI_Win_attach"); }
NAME(MPI_Win_complete)
DEFAULT int PMPI_Win_complete(MPI_Win win)
{ return cellweave_unsupported("MPI_Win_complete"); }
NAME(MPI_Win_create)
DEFAULT int PMPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
    MPI_Win *win)
{ if (win) *win = MPI_WIN_NULL; return cellweave_unsupported("MPI_Win_create"); }
NAME(MPI_Win_create_c)
DEFAULT int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    MPI_Win *win)
{ if (win) *win = MPI_WIN_NULL; return cellweave_unsupported("MPI_Win_create_c"); }
NAME(MPI_Win_create_dynamic)
DEFAULT int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{ if (win) *win = MPI_WIN_NULL; return cellweave_unsupported("MPI_Win_create_dynamic"); }
NAME(MPI_Win_detach)
DEFAULT int PMPI_Win_detach(MPI_Win win, const void *base)
{ return cellweave_unsupported("MPI_Win_detach"); }
NAME(MPI_Win_fence)
DEFAULT int PMPI_Win_fence(int assert, MPI_Win win)
{ return cellweave_unsupported("MPI_Win_fence"); }
NAME(MPI_Win_flush)
DEFAULT int PMPI_Win_flush(int rank, MPI_Win win)
{ return cellweave_unsupported("MPI_Win_flush"); }
NAME(MPI_Win_flush_all)
DEFAULT int PMPI_Win_flush_all(MPI_Win win)
{ return cellweave_unsupported("MPI_Win_flush_all"); }
NAME(MPI_Win_flush_local)
DEFAULT int PMPI_Win_flush_local(int rank, MPI_Win win)
{ return cellweave_unsupported("MPI_Win_flush_local"); }
NAME(MPI_Win_flush_local_all)
DEFAULT int PMPI_Win_flush_local_all(MPI_Win win)
{ return cellweave_unsupported("MPI_Win_flush_local_all"); }
NAME(MPI_Win_free)
DEFAULT int PMPI_Win_free(MPI_Win *win)
{ return cellweave_unsupported("MPI_Win_free"); }
NAME(MPI_Win_get_group)
DEFAULT int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{ if (group) *group = MPI_GROUP_NULL; return cellweave_unsupported("MPI_Win_get_group"); }
NAME(MPI_Win_get_info)
DEFAULT int PMPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{ if (info_used) *info_used = MPI_INFO_NULL; return cellweave_unsupported("MPI_Win_get_info"); }
NAME(MPI_Win_get_name)
DEFAULT int PMPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)
{ return cellweave_unsupported("MPI_Win_get_name"); }
NAME(MPI_Win_lock)
DEFAULT int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{ return cellweave_unsupported("MPI_Win_lock"); }
NAME(MPI_Win_lock_all)
DEFAULT int PMPI_Win_lock_all(int assert, MPI_Win win)
{ return cellweave_unsupported("MPI_Win_lock_all"); }
NAME(MPI_Win_post)
DEFAULT int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{ return cellweave_unsupported("MPI_Win_post"); }
NAME(MPI_Win_set_info)
DEFAULT int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{ return cellweave_unsupported("MPI_Win_set_info"); }
NAME(MPI_Win_set_name)
DEFAULT int PMPI_Win_set_name(MPI_Win win, const char *win_name)
{ return cellweave_unsupported("MPI_Win_set_name"); }
NAME(MPI_Win_shared_query)
DEFAULT int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{ return cellweave_unsupported("MPI_Win_shared_query"); }
NAME(MPI_Win_shared_query_c)
DEFAULT int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
    void *baseptr)
{ return cellweave_unsupported("MPI_Win_shared_query_c"); }
NAME(MPI_Win_start)
DEFAULT int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{ return cellweave_unsupported("MPI_Win_start"); }
NAME(MPI_Win_sync)
DEFAULT int PMPI_Win_sync(MPI_Win win)
{ return cellweave_unsupported("MPI_Win_sync"); }
NAME(MPI_Win_test)
DEFAULT int PMPI_Win_test(MPI_Win win, int *flag)
{ return cellweave_unsupported("MPI_Win_test"); }
NAME(MPI_Win_unlock)
DEFAULT int PMPI_Win_unlock(int rank, MPI_Win win)
{ return cellweave_unsupported("MPI_Win_unlock"); }
NAME(MPI_Win_unlock_all)
DEFAULT int PMPI_Win_unlock_all(MPI_Win win)
{ return cellweave_unsupported("MPI_Win_unlock_all"); }
NAME(MPI_Win_wait)
DEFAULT int PMPI_Win_wait(MPI_Win win)
{ return cellweave_unsupported("MPI_Win_wait"); }

/* Files */
NAME(MPI_File_call_errhandler)
DEFAULT int PMPI_File_call_errhandler(MPI_File fh, int errorcode)
{ return cellweave_unsupported("MPI_File_call_errhandler"); }
NAME(MPI_File_close)
DEFAULT int PMPI_File_close(MPI_File *fh)
{ return cellweave_unsupported("MPI_File_close"); }
NAME(MPI_File_create_errhandler)
DEFAULT int PMPI_File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn,
    MPI_Errhandler *errhandler)
{ if (errhandler) *errhandler = MPI_ERRHANDLER_NULL; return cellweave_unsupported("MPI_File_create_errhandler"); }
NAME(MPI_File_delete)
DEFAULT int PMPI_File_delete(const char *filename, MPI_Info info)
{ return cellweave_unsupported("MPI_File_delete"); }
NAME(MPI_File_get_amode)
DEFAULT int PMPI_File_get_amode(MPI_File fh, int *amode)
{ return cellweave_unsupported("MPI_File_get_amode"); }
NAME(MPI_File_get_atomicity)
DEFAULT int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{ return cellweave_unsupported("MPI_File_get_atomicity"); }
NAME(MPI_File_get_byte_offset)
DEFAULT int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{ return cellweave_unsupported("MPI_File_get_byte_offset"); }
NAME(MPI_File_get_errhandler)
DEFAULT int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{ if (errhandler) *errhandler = MPI_ERRHANDLER_NULL; return cellweave_unsupported("MPI_File_get_errhandler"); }
NAME(MPI_File_get_group)
DEFAULT int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{ if (group) *group = MPI_GROUP_NULL; return cellweave_unsupported("MPI_File_get_group"); }
NAME(MPI_File_get_info)
DEFAULT int PMPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{ if (info_used) *info_used = MPI_INFO_NULL; return cellweave_unsupported("MPI_File_get_info"); }
NAME(MPI_File_get_position)
DEFAULT int PMPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{ return cellweave_unsupported("MPI_File_get_position"); }
NAME(MPI_File_get_position_shared)
DEFAULT int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{ return cellweave_unsupported("MPI_File_get_position_shared"); }
NAME(MPI_File_get_size)
DEFAULT int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{ return cellweave_unsupported("MPI_File_get_size"); }
NAME(MPI_File_get_type_extent)
DEFAULT int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent)
{ return cellweave_unsupported("MPI_File_get_type_extent"); }
NAME(MPI_File_get_type_extent_c)
DEFAULT int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent)
{ return cellweave_unsupported("MPI_File_get_type_extent_c"); }
NAME(MPI_File_get_view)
DEFAULT int PMPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
    char *datarep)
{ if (etype) *etype = MPI_DATATYPE_NULL; if (filetype) *filetype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_File_get_view"); }
NAME(MPI_File_iread)
DEFAULT int PMPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iread"); }
NAME(MPI_File_iread_c)
DEFAULT int PMPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iread_c"); }
NAME(MPI_File_iread_all)
DEFAULT int PMPI_File_iread_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iread_all"); }
NAME(MPI_File_iread_all_c)
DEFAULT int PMPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iread_all_c"); }
NAME(MPI_File_iread_at)
DEFAULT int PMPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iread_at"); }
NAME(MPI_File_iread_at_c)
DEFAULT int PMPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iread_at_c"); }
NAME(MPI_File_iread_at_all)
DEFAULT int PMPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
    MPI_Datatype datatype, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iread_at_all"); }
NAME(MPI_File_iread_at_all_c)
DEFAULT int PMPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iread_at_all_c"); }
NAME(MPI_File_iread_shared)
DEFAULT int PMPI_File_iread_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iread_shared"); }
NAME(MPI_File_iread_shared_c)
DEFAULT int PMPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iread_shared_c"); }
NAME(MPI_File_iwrite)
DEFAULT int PMPI_File_iwrite(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iwrite"); }
NAME(MPI_File_iwrite_c)
DEFAULT int PMPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iwrite_c"); }
NAME(MPI_File_iwrite_all)
DEFAULT int PMPI_File_iwrite_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iwrite_all"); }
NAME(MPI_File_iwrite_all_c)
DEFAULT int PMPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iwrite_all_c"); }
NAME(MPI_File_iwrite_at)
DEFAULT int PMPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iwrite_at"); }
NAME(MPI_File_iwrite_at_c)
DEFAULT int PMPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iwrite_at_c"); }
NAME(MPI_File_iwrite_at_all)
DEFAULT int PMPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iwrite_at_all"); }
NAME(MPI_File_iwrite_at_all_c)
DEFAULT int PMPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iwrite_at_all_c"); }
NAME(MPI_File_iwrite_shared)
DEFAULT int PMPI_File_iwrite_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iwrite_shared"); }
NAME(MPI_File_iwrite_shared_c)
DEFAULT int PMPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request)
{ if (request) *request = MPI_REQUEST_NULL; return cellweave_unsupported("MPI_File_iwrite_shared_c"); }
NAME(MPI_File_open)
DEFAULT int PMPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{ if (fh) *fh = MPI_FILE_NULL; return cellweave_unsupported("MPI_File_open"); }
NAME(MPI_File_preallocate)
DEFAULT int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{ return cellweave_unsupported("MPI_File_preallocate"); }
NAME(MPI_File_read)
DEFAULT int PMPI_File_read(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read"); }
NAME(MPI_File_read_c)
DEFAULT int PMPI_File_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_c"); }
NAME(MPI_File_read_all)
DEFAULT int PMPI_File_read_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_all"); }
NAME(MPI_File_read_all_c)
DEFAULT int PMPI_File_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_all_c"); }
NAME(MPI_File_read_all_begin)
DEFAULT int PMPI_File_read_all_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_File_read_all_begin"); }
NAME(MPI_File_read_all_begin_c)
DEFAULT int PMPI_File_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_File_read_all_begin_c"); }
NAME(MPI_File_read_all_end)
DEFAULT int PMPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_all_end"); }
NAME(MPI_File_read_at)
DEFAULT int PMPI_File_read_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_at"); }
NAME(MPI_File_read_at_c)
DEFAULT int PMPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_at_c"); }
NAME(MPI_File_read_at_all)
DEFAULT int PMPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
    MPI_Datatype datatype, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_at_all"); }
NAME(MPI_File_read_at_all_c)
DEFAULT int PMPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_at_all_c"); }
NAME(MPI_File_read_at_all_begin)
DEFAULT int PMPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, int count,
    MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_File_read_at_all_begin"); }
NAME(MPI_File_read_at_all_begin_c)
DEFAULT int PMPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_File_read_at_all_begin_c"); }
NAME(MPI_File_read_at_all_end)
DEFAULT int PMPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_at_all_end"); }
NAME(MPI_File_read_ordered)
DEFAULT int PMPI_File_read_ordered(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_ordered"); }
NAME(MPI_File_read_ordered_c)
DEFAULT int PMPI_File_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_ordered_c"); }
NAME(MPI_File_read_ordered_begin)
DEFAULT int PMPI_File_read_ordered_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_File_read_ordered_begin"); }
NAME(MPI_File_read_ordered_begin_c)
DEFAULT int PMPI_File_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_File_read_ordered_begin_c"); }
NAME(MPI_File_read_ordered_end)
DEFAULT int PMPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_ordered_end"); }
NAME(MPI_File_read_shared)
DEFAULT int PMPI_File_read_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_shared"); }
NAME(MPI_File_read_shared_c)
DEFAULT int PMPI_File_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_read_shared_c"); }
NAME(MPI_File_seek)
DEFAULT int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{ return cellweave_unsupported("MPI_File_seek"); }
NAME(MPI_File_seek_shared)
DEFAULT int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{ return cellweave_unsupported("MPI_File_seek_shared"); }
NAME(MPI_File_set_atomicity)
DEFAULT int PMPI_File_set_atomicity(MPI_File fh, int flag)
{ return cellweave_unsupported("MPI_File_set_atomicity"); }
NAME(MPI_File_set_errhandler)
DEFAULT int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{ return cellweave_unsupported("MPI_File_set_errhandler"); }
NAME(MPI_File_set_info)
DEFAULT int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{ return cellweave_unsupported("MPI_File_set_info"); }
NAME(MPI_File_set_size)
DEFAULT int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{ return cellweave_unsupported("MPI_File_set_size"); }
NAME(MPI_File_set_view)
DEFAULT int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
    const char *datarep, MPI_Info info)
{ return cellweave_unsupported("MPI_File_set_view"); }
NAME(MPI_File_sync)
DEFAULT int PMPI_File_sync(MPI_File fh)
{ return cellweave_unsupported("MPI_File_sync"); }
NAME(MPI_File_write)
DEFAULT int PMPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write"); }
NAME(MPI_File_write_c)
DEFAULT int PMPI_File_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_c"); }
NAME(MPI_File_write_all)
DEFAULT int PMPI_File_write_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_all"); }
NAME(MPI_File_write_all_c)
DEFAULT int PMPI_File_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_all_c"); }
NAME(MPI_File_write_all_begin)
DEFAULT int PMPI_File_write_all_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_File_write_all_begin"); }
NAME(MPI_File_write_all_begin_c)
DEFAULT int PMPI_File_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count,
    MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_File_write_all_begin_c"); }
NAME(MPI_File_write_all_end)
DEFAULT int PMPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_all_end"); }
NAME(MPI_File_write_at)
DEFAULT int PMPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_at"); }
NAME(MPI_File_write_at_c)
DEFAULT int PMPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_at_c"); }
NAME(MPI_File_write_at_all)
DEFAULT int PMPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_at_all"); }
NAME(MPI_File_write_at_all_c)
DEFAULT int PMPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_at_all_c"); }
NAME(MPI_File_write_at_all_begin)
DEFAULT int PMPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_File_write_at_all_begin"); }
NAME(MPI_File_write_at_all_begin_c)
DEFAULT int PMPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf,
    MPI_Count count, MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_File_write_at_all_begin_c"); }
NAME(MPI_File_write_at_all_end)
DEFAULT int PMPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_at_all_end"); }
NAME(MPI_File_write_ordered)
DEFAULT int PMPI_File_write_ordered(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_ordered"); }
NAME(MPI_File_write_ordered_c)
DEFAULT int PMPI_File_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_ordered_c"); }
NAME(MPI_File_write_ordered_begin)
DEFAULT int PMPI_File_write_ordered_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_File_write_ordered_begin"); }
NAME(MPI_File_write_ordered_begin_c)
DEFAULT int PMPI_File_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count,
    MPI_Datatype datatype)
{ return cellweave_unsupported("MPI_File_write_ordered_begin_c"); }
NAME(MPI_File_write_ordered_end)
DEFAULT int PMPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_ordered_end"); }
NAME(MPI_File_write_shared)
DEFAULT int PMPI_File_write_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_shared"); }
NAME(MPI_File_write_shared_c)
DEFAULT int PMPI_File_write_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status)
{ return cellweave_unsupported("MPI_File_write_shared_c"); }
NAME(MPI_Register_datarep)
DEFAULT int PMPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
    MPI_Datarep_conversion_function *write_conversion_fn,
    MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{ return cellweave_unsupported("MPI_Register_datarep"); }
NAME(MPI_Register_datarep_c)
DEFAULT int PMPI_Register_datarep_c(const char *datarep,
    MPI_Datarep_conversion_function_c *read_conversion_fn,
    MPI_Datarep_conversion_function_c *write_conversion_fn,
    MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{ return cellweave_unsupported("MPI_Register_datarep_c"); }

/* Processes */
NAME(MPI_Close_port)
DEFAULT int PMPI_Close_port(const char *port_name)
{ return cellweave_unsupported("MPI_Close_port"); }
NAME(MPI_Comm_accept)
DEFAULT int PMPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
    MPI_Comm *newcomm)
{ if (newcomm) *newcomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_accept"); }
NAME(MPI_Comm_connect)
DEFAULT int PMPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm,
    MPI_Comm *newcomm)
{ if (newcomm) *newcomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_connect"); }
NAME(MPI_Comm_disconnect)
DEFAULT int PMPI_Comm_disconnect(MPI_Comm *comm)
{ return cellweave_unsupported("MPI_Comm_disconnect"); }
NAME(MPI_Comm_get_parent)
DEFAULT int PMPI_Comm_get_parent(MPI_Comm *parent)
{ if (parent) *parent = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_get_parent"); }
NAME(MPI_Comm_join)
DEFAULT int PMPI_Comm_join(int fd, MPI_Comm *intercomm)
{ if (intercomm) *intercomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_join"); }
NAME(MPI_Comm_spawn)
DEFAULT int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
    MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{ if (intercomm) *intercomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_spawn"); }
NAME(MPI_Comm_spawn_multiple)
DEFAULT int PMPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
    const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm,
    MPI_Comm *intercomm, int array_of_errcodes[])
{ if (intercomm) *intercomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_spawn_multiple"); }
NAME(MPI_Lookup_name)
DEFAULT int PMPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)
{ return cellweave_unsupported("MPI_Lookup_name"); }
NAME(MPI_Open_port)
DEFAULT int PMPI_Open_port(MPI_Info info, char *port_name)
{ return cellweave_unsupported("MPI_Open_port"); }
NAME(MPI_Publish_name)
DEFAULT int PMPI_Publish_name(const char *service_name, MPI_Info info, const char *port_name)
{ return cellweave_unsupported("MPI_Publish_name"); }
NAME(MPI_Unpublish_name)
DEFAULT int PMPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
{ return cellweave_unsupported("MPI_Unpublish_name"); }

/* Sessions */
NAME(MPI_Comm_create_from_group)
DEFAULT int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
    MPI_Errhandler errhandler, MPI_Comm *newcomm)
{ if (newcomm) *newcomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Comm_create_from_group"); }
NAME(MPI_Group_from_session_pset)
DEFAULT int PMPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
{ if (newgroup) *newgroup = MPI_GROUP_NULL; return cellweave_unsupported("MPI_Group_from_session_pset"); }
NAME(MPI_Intercomm_create_from_groups)
DEFAULT int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
    MPI_Group remote_group, int remote_leader, const char *stringtag, MPI_Info info,
    MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{ if (newintercomm) *newintercomm = MPI_COMM_NULL; return cellweave_unsupported("MPI_Intercomm_create_from_groups"); }
NAME(MPI_Session_finalize)
DEFAULT int PMPI_Session_finalize(MPI_Session *session)
{ return cellweave_unsupported("MPI_Session_finalize"); }
NAME(MPI_Session_get_info)
DEFAULT int PMPI_Session_get_info(MPI_Session session, MPI_Info *info_used)
{ if (info_used) *info_used = MPI_INFO_NULL; return cellweave_unsupported("MPI_Session_get_info"); }
NAME(MPI_Session_get_nth_pset)
DEFAULT int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len,
    char *pset_name)
{ return cellweave_unsupported("MPI_Session_get_nth_pset"); }
NAME(MPI_Session_get_num_psets)
DEFAULT int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names)
{ return cellweave_unsupported("MPI_Session_get_num_psets"); }
NAME(MPI_Session_get_pset_info)
DEFAULT int PMPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{ if (info) *info = MPI_INFO_NULL; return cellweave_unsupported("MPI_Session_get_pset_info"); }
NAME(MPI_Session_init)
DEFAULT int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{ if (session) *session = MPI_SESSION_NULL; return cellweave_unsupported("MPI_Session_init"); }

/* Tools */
NAME(MPI_T_category_changed)
DEFAULT int PMPI_T_category_changed(int *update_number)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_category_get_categories)
DEFAULT int PMPI_T_category_get_categories(int cat_index, int len, int indices[])
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_category_get_cvars)
DEFAULT int PMPI_T_category_get_cvars(int cat_index, int len, int indices[])
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_category_get_events)
DEFAULT int PMPI_T_category_get_events(int cat_index, int len, int indices[])
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_category_get_index)
DEFAULT int PMPI_T_category_get_index(const char *name, int *cat_index)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_category_get_info)
DEFAULT int PMPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len,
    int *num_cvars, int *num_pvars, int *num_categories)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_category_get_num)
DEFAULT int PMPI_T_category_get_num(int *num_cat)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_category_get_num_events)
DEFAULT int PMPI_T_category_get_num_events(int cat_index, int *num_events)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_category_get_pvars)
DEFAULT int PMPI_T_category_get_pvars(int cat_index, int len, int indices[])
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_cvar_get_index)
DEFAULT int PMPI_T_cvar_get_index(const char *name, int *cvar_index)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_cvar_get_info)
DEFAULT int PMPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity,
    MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope)
{ if (datatype) *datatype = MPI_DATATYPE_NULL; if (enumtype) *enumtype = MPI_T_ENUM_NULL; return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_cvar_get_num)
DEFAULT int PMPI_T_cvar_get_num(int *num_cvar)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_cvar_handle_alloc)
DEFAULT int PMPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
    int *count)
{ if (handle) *handle = MPI_T_CVAR_HANDLE_NULL; return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_cvar_handle_free)
DEFAULT int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_cvar_read)
DEFAULT int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_cvar_write)
DEFAULT int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_enum_get_info)
DEFAULT int PMPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_enum_get_item)
DEFAULT int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_callback_get_info)
DEFAULT int PMPI_T_event_callback_get_info(MPI_T_event_registration event_registration,
    MPI_T_cb_safety cb_safety, MPI_Info *info_used)
{ if (info_used) *info_used = MPI_INFO_NULL; return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_callback_set_info)
DEFAULT int PMPI_T_event_callback_set_info(MPI_T_event_registration event_registration,
    MPI_T_cb_safety cb_safety, MPI_Info info)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_copy)
DEFAULT int PMPI_T_event_copy(MPI_T_event_instance event_instance, void *buffer)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_get_index)
DEFAULT int PMPI_T_event_get_index(const char *name, int *event_index)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_get_info)
DEFAULT int PMPI_T_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
    MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements,
    MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len, int *bind)
{ if (enumtype) *enumtype = MPI_T_ENUM_NULL; if (info) *info = MPI_INFO_NULL; return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_get_num)
DEFAULT int PMPI_T_event_get_num(int *num_events)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_get_source)
DEFAULT int PMPI_T_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_get_timestamp)
DEFAULT int PMPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_handle_alloc)
DEFAULT int PMPI_T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
    MPI_T_event_registration *event_registration)
{ if (event_registration) *event_registration = 0; return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_handle_free)
DEFAULT int PMPI_T_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
    MPI_T_event_free_cb_function free_cb_function)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_handle_get_info)
DEFAULT int PMPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used)
{ if (info_used) *info_used = MPI_INFO_NULL; return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_handle_set_info)
DEFAULT int PMPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_read)
DEFAULT int PMPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_register_callback)
DEFAULT int PMPI_T_event_register_callback(MPI_T_event_registration event_registration,
    MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data,
    MPI_T_event_cb_function event_cb_function)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_event_set_dropped_handler)
DEFAULT int PMPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration,
    MPI_T_event_dropped_cb_function dropped_cb_function)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_finalize)
DEFAULT int PMPI_T_finalize(void)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_init_thread)
DEFAULT int PMPI_T_init_thread(int required, int *provided)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_get_index)
DEFAULT int PMPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_get_info)
DEFAULT int PMPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
    MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind,
    int *readonly, int *continuous, int *atomic)
{ if (datatype) *datatype = MPI_DATATYPE_NULL; if (enumtype) *enumtype = MPI_T_ENUM_NULL; return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_get_num)
DEFAULT int PMPI_T_pvar_get_num(int *num_pvar)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_handle_alloc)
DEFAULT int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle,
    MPI_T_pvar_handle *handle, int *count)
{ if (handle) *handle = MPI_T_PVAR_HANDLE_NULL; return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_handle_free)
DEFAULT int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_read)
DEFAULT int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_readreset)
DEFAULT int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_reset)
DEFAULT int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_session_create)
DEFAULT int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{ if (session) *session = MPI_T_PVAR_SESSION_NULL; return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_session_free)
DEFAULT int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_start)
DEFAULT int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_stop)
DEFAULT int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_pvar_write)
DEFAULT int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_source_get_info)
DEFAULT int PMPI_T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
    MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks,
    MPI_Info *info)
{ if (info) *info = MPI_INFO_NULL; return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_source_get_num)
DEFAULT int PMPI_T_source_get_num(int *num_sources)
{ return MPI_T_ERR_NOT_SUPPORTED; }
NAME(MPI_T_source_get_timestamp)
DEFAULT int PMPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp)
{ return MPI_T_ERR_NOT_SUPPORTED; }

/* Deleted in MPI 3.0 */
NAME(MPI_Address)
DEFAULT int PMPI_Address(void *location, MPI_Aint *address)
{ return cellweave_unsupported("MPI_Address"); }
NAME(MPI_Errhandler_create)
DEFAULT int PMPI_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{ if (errhandler) *errhandler = MPI_ERRHANDLER_NULL; return cellweave_unsupported("MPI_Errhandler_create"); }
NAME(MPI_Errhandler_get)
DEFAULT int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{ if (errhandler) *errhandler = MPI_ERRHANDLER_NULL; return cellweave_unsupported("MPI_Errhandler_get"); }
NAME(MPI_Errhandler_set)
DEFAULT int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{ return cellweave_unsupported("MPI_Errhandler_set"); }
NAME(MPI_Type_extent)
DEFAULT int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{ return cellweave_unsupported("MPI_Type_extent"); }
NAME(MPI_Type_hindexed)
DEFAULT int PMPI_Type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_hindexed"); }
NAME(MPI_Type_hvector)
DEFAULT int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_hvector"); }
NAME(MPI_Type_lb)
DEFAULT int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{ return cellweave_unsupported("MPI_Type_lb"); }
NAME(MPI_Type_struct)
DEFAULT int PMPI_Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[],
    MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{ if (newtype) *newtype = MPI_DATATYPE_NULL; return cellweave_unsupported("MPI_Type_struct"); }
NAME(MPI_Type_ub)
DEFAULT int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{ return cellweave_unsupported("MPI_Type_ub"); }
