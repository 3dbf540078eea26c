//! Events and their sources (MPI 5.0, section 15.3.8): there are none, so every index and every handle is a wrong one.

use super::{put, running, tool};
use crate::abi::values::{MPI_T_ERR_INVALID_HANDLE, MPI_T_ERR_INVALID_INDEX, MPI_T_ERR_INVALID_NAME};
use crate::abi::{Aint, Count, Datatype, Info};
use std::ffi::{c_char, c_int, c_void};

tool! {
    fn PMPI_T_event_get_num(num_events: *mut c_int) {
        let _tool = running()?;
        // SAFETY: by the C caller's word.
        unsafe { put(num_events, 0) };
        Ok(())
    }

    fn PMPI_T_event_get_index(_name: *const c_char, _event_index: *mut c_int) {
        running().and(Err(MPI_T_ERR_INVALID_NAME))
    }

    fn PMPI_T_event_get_info(
        _event_index: c_int, _name: *mut c_char, _name_len: *mut c_int, _verbosity: *mut c_int,
        _datatypes: *mut Datatype, _displacements: *mut Aint, _num_elements: *mut c_int, _enumtype: *mut usize,
        _info: *mut Info, _desc: *mut c_char, _desc_len: *mut c_int, _bind: *mut c_int,
    ) {
        running().and(Err(MPI_T_ERR_INVALID_INDEX))
    }

    fn PMPI_T_event_handle_alloc(_event_index: c_int, _object: *mut c_void, _info: Info, _registration: *mut usize) {
        running().and(Err(MPI_T_ERR_INVALID_INDEX))
    }

    fn PMPI_T_event_handle_free(_registration: usize, _user_data: *mut c_void, _callback: *const c_void) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_handle_get_info(_registration: usize, _info_used: *mut Info) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_handle_set_info(_registration: usize, _info: Info) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_register_callback(
        _registration: usize, _safety: c_int, _info: Info, _user_data: *mut c_void, _callback: *const c_void,
    ) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_callback_get_info(_registration: usize, _safety: c_int, _info_used: *mut Info) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_callback_set_info(_registration: usize, _safety: c_int, _info: Info) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_set_dropped_handler(_registration: usize, _callback: *const c_void) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_copy(_instance: usize, _buffer: *mut c_void) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_read(_instance: usize, _element: c_int, _buffer: *mut c_void) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_get_source(_instance: usize, _source_index: *mut c_int) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_get_timestamp(_instance: usize, _timestamp: *mut Count) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_source_get_num(num_sources: *mut c_int) {
        let _tool = running()?;
        // SAFETY: by the C caller's word.
        unsafe { put(num_sources, 0) };
        Ok(())
    }

    fn PMPI_T_source_get_info(
        _source_index: c_int, _name: *mut c_char, _name_len: *mut c_int, _desc: *mut c_char, _desc_len: *mut c_int,
        _ordering: *mut c_int, _ticks_per_second: *mut Count, _max_ticks: *mut Count, _info: *mut Info,
    ) {
        running().and(Err(MPI_T_ERR_INVALID_INDEX))
    }

    fn PMPI_T_source_get_timestamp(_source_index: c_int, _timestamp: *mut Count) {
        running().and(Err(MPI_T_ERR_INVALID_INDEX))
    }
}
