//! Functions of the C interface: what is common to all of them.

/// Makes functions of the C interface from bodies that give `Result<(), Failure>`. `on comm` names the argument whose
/// error handler a failure goes to; `ranks[n]` is an array whose length the argument `n` says.
///
/// ```text
/// mpi! {
///     /// MPI 5.0, section 7.4.1.
///     fn PMPI_Comm_rank(comm: abi::Comm, rank: Out<c_int>) on comm {
///         let state = check::running()?;
///         rank.write(valid::comm(&state, comm)?.rank as c_int)
///     }
/// }
/// ```
macro_rules! mpi {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($argument:ident $([$length:expr])?: $type:ty),* $(,)?) $(on $comm:ident)? $body:block
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Pointers are valid for what MPI 5.0 says of them.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments)]
        unsafe extern "C" fn $name($($argument: <$type as $crate::call::Argument>::Passed),*) -> std::ffi::c_int {
            const FUNCTION: usize = $crate::profile::index(stringify!($name));
            let body = || -> Result<(), $crate::check::Failure> {
                $crate::call::arguments!($($argument $([$length])?: $type),*);
                $body
            };
            let entered = $crate::profile::enter(FUNCTION);
            let result = body();
            $crate::profile::leave(FUNCTION, entered);
            match result {
                Ok(()) => $crate::abi::values::MPI_SUCCESS,
                // The names of functions are the standard's: without the P of the profiling interface.
                Err(failure) => $crate::comm::errhandler::raise(failure$(.on($comm))?, &stringify!($name)[1..]),
            }
        }
        const _: $crate::abi::prototypes::$name = $name;
    )*};
}
pub(crate) use mpi;
