"""The workers of a campaign: a cluster of processes on this computer, or a scheduler at an address."""

from __future__ import annotations

import logging
import tempfile
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from cellweave import _core
from cellweave.campaign.cell import version

if TYPE_CHECKING:
    from collections.abc import Iterator

# Seconds in which a scheduler must answer, and a first worker must be there.
_ANSWER_S = 5
_FIRST_WORKER_S = 30
# Evaluated on each worker; it pickles also where cellweave is not installed.
_ASK = "__import__('cellweave.campaign.cell', fromlist=['version']).version()"


def distributed() -> Any:
    """The module ``distributed``.

    Raises
    ------
    cellweave.RequestError
        Where it is not installed.
    """
    try:
        import dask
        import distributed
    except ImportError:
        raise _core.RequestError("campaigns need Dask and Parquet: pip install 'cellweave[campaign]'") from None
    # What goes wrong is told by the campaign; a worker that dies is no news to its user. Some of Dask's loggers have
    # levels of their own.
    for name in ["distributed", *(name for name in logging.root.manager.loggerDict if name.startswith("distributed."))]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    dask.config.set({"distributed.scheduler.allowed-failures": 3})
    return distributed


@contextmanager
def client(address: str | None, workers: int | None) -> Iterator[Any]:
    """A client whose workers all have this version of cellweave.

    Parameters
    ----------
    address : str, optional
        Of a scheduler; without it a cluster is started on this computer.
    workers : int, optional
        Of that cluster; by default one for each cpu.

    Raises
    ------
    cellweave.RequestError
        Where no scheduler or no worker answers, or a worker has another version.
    """
    found = distributed()
    with ExitStack() as stack:
        if address is None:
            scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="cellweave-campaign-"))
            cluster = found.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                worker_dashboard_address="127.0.0.1:0",
                local_directory=scratch,
                silence_logs=logging.CRITICAL + 1,
            )
            stack.callback(cluster.close, timeout=_ANSWER_S)
            made = stack.enter_context(found.Client(cluster, set_as_default=False))
        else:
            made = stack.enter_context(_connected(found, address))
            try:
                made.wait_for_workers(1, timeout=_FIRST_WORKER_S)
            except (TimeoutError, OSError):
                raise _core.RequestError(
                    f"--dask: {address} has no worker after {_FIRST_WORKER_S} s: start one with `dask worker {address}`"
                ) from None
        stack.enter_context(made.as_current())
        _check_workers(made)
        yield made


def _connected(found: Any, address: str) -> Any:
    try:
        return found.Client(address, timeout=_ANSWER_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError, RuntimeError) as e:
        told = (str(e) or type(e).__name__).splitlines()[0]
        raise _core.RequestError(f"--dask: no scheduler answers at {address}: {told}") from None


def _check_workers(client: Any) -> None:
    """Refuse workers with another version, or without cellweave."""
    for worker, theirs in client.run(eval, _ASK, on_error="return").items():
        if isinstance(theirs, ModuleNotFoundError):
            raise _core.RequestError(
                f"the worker {worker} has no cellweave ({theirs}): install cellweave {version()} there"
            )
        if isinstance(theirs, BaseException):
            raise _core.RequestError(f"the worker {worker} cannot load cellweave: {theirs}")
        if theirs != version():
            raise _core.RequestError(
                f"the worker {worker} has cellweave {theirs}, and this is {version()}: install the same on both"
            )
