//! Events and their sources (MPI 5.0, section 15.3.8): there are none, so every index and every handle is a wrong one.

use super::{running, tool};
use crate::abi::prototypes::{
    MPI_T_event_cb_function, MPI_T_event_dropped_cb_function, MPI_T_event_free_cb_function,
};
use crate::abi::values::{MPI_T_ERR_INVALID_HANDLE, MPI_T_ERR_INVALID_INDEX, MPI_T_ERR_INVALID_NAME};
use crate::abi::{Aint, Count, Datatype, Info};
use crate::call::{In, Out};
use std::ffi::{c_char, c_int, c_void};

tool! {
    fn PMPI_T_event_get_num(num_events: Out<c_int>) {
        let _tool = running()?;
        num_events.offer(0);
        Ok(())
    }

    fn PMPI_T_event_get_index(_name: In<c_char>, _event_index: Out<c_int>) {
        running().and(Err(MPI_T_ERR_INVALID_NAME))
    }

    fn PMPI_T_event_get_info(
        _event_index: c_int, _name: Out<c_char>, _name_len: Out<c_int>, _verbosity: Out<c_int>,
        _datatypes: Out<Datatype>, _displacements: Out<Aint>, _num_elements: Out<c_int>, _enumtype: Out<usize>,
        _info: Out<Info>, _desc: Out<c_char>, _desc_len: Out<c_int>, _bind: Out<c_int>,
    ) {
        running().and(Err(MPI_T_ERR_INVALID_INDEX))
    }

    fn PMPI_T_event_handle_alloc(_event_index: c_int, _object: *mut c_void, _info: Info, _registration: Out<usize>) {
        running().and(Err(MPI_T_ERR_INVALID_INDEX))
    }

    fn PMPI_T_event_handle_free(
        _registration: usize, _user_data: *mut c_void, _callback: Option<MPI_T_event_free_cb_function>,
    ) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_handle_get_info(_registration: usize, _info_used: Out<Info>) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_handle_set_info(_registration: usize, _info: Info) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_register_callback(
        _registration: usize, _safety: c_int, _info: Info, _user_data: *mut c_void,
        _callback: Option<MPI_T_event_cb_function>,
    ) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_callback_get_info(_registration: usize, _safety: c_int, _info_used: Out<Info>) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_callback_set_info(_registration: usize, _safety: c_int, _info: Info) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_set_dropped_handler(_registration: usize, _callback: Option<MPI_T_event_dropped_cb_function>) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_copy(_instance: usize, _buffer: *mut c_void) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_read(_instance: usize, _element: c_int, _buffer: *mut c_void) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_get_source(_instance: usize, _source_index: Out<c_int>) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_event_get_timestamp(_instance: usize, _timestamp: Out<Count>) {
        running().and(Err(MPI_T_ERR_INVALID_HANDLE))
    }

    fn PMPI_T_source_get_num(num_sources: Out<c_int>) {
        let _tool = running()?;
        num_sources.offer(0);
        Ok(())
    }

    fn PMPI_T_source_get_info(
        _source_index: c_int, _name: Out<c_char>, _name_len: Out<c_int>, _desc: Out<c_char>, _desc_len: Out<c_int>,
        _ordering: Out<c_int>, _ticks_per_second: Out<Count>, _max_ticks: Out<Count>, _info: Out<Info>,
    ) {
        running().and(Err(MPI_T_ERR_INVALID_INDEX))
    }

    fn PMPI_T_source_get_timestamp(_source_index: c_int, _timestamp: Out<Count>) {
        running().and(Err(MPI_T_ERR_INVALID_INDEX))
    }
}
