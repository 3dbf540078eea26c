//! The launcher's socket. Ranks whose wrapper closed the job's memory get it here. Ranks that are not the launcher's
//! own children report here, and keep the connection as their line to the launcher.
//!
//! An abstract socket leaves no file behind. Both sides accept only the same user (and root).

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// What a process asks the launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Ask {
    /// For the job's memory.
    Memory = b'm',
    /// To be known as this rank.
    Claimed = b'c',
}

const MESSAGE: usize = 8;
/// asm-generic/fcntl.h; the libc crate lacks it.
pub(crate) const F_SETSIG: libc::c_int = 10;

/// The socket's name for a job.
pub(crate) fn name(identity: u64) -> String {
    format!("cellweave-{identity:016x}")
}

fn address(name: &str) -> (libc::sockaddr_un, libc::socklen_t) {
    // SAFETY: zeroes are a valid address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = &name.as_bytes()[..name.len().min(address.sun_path.len() - 1)];
    // The first byte stays 0: abstract.
    for (place, byte) in address.sun_path[1..].iter_mut().zip(bytes) {
        *place = *byte as libc::c_char;
    }
    let length = size_of::<libc::sa_family_t>() + 1 + bytes.len();
    (address, length as libc::socklen_t)
}

fn socket(extra: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: flags only; the result is owned by nobody else.
    unsafe {
        match libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | extra, 0) {
            fd if fd >= 0 => Ok(OwnedFd::from_raw_fd(fd)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Binds an abstract name that is free again when the descriptor closes, however this process ends.
///
/// # Errors
/// When another process has it.
pub(crate) fn bind(name: &str) -> io::Result<OwnedFd> {
    let socket = socket(libc::SOCK_NONBLOCK)?;
    let (address, length) = address(name);
    // SAFETY: an address of that length.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(socket)
}

/// The launcher's end.
pub(crate) struct Listener(OwnedFd);

impl Listener {
    /// Listens at a name.
    ///
    /// # Errors
    /// As the system's.
    pub(crate) fn new(name: &str) -> io::Result<Self> {
        let socket = bind(name)?;
        // SAFETY: a socket of ours.
        check(unsafe {
            libc::listen(socket.as_raw_fd(), 2 * transport::segment::MOST_RANKS as libc::c_int)
        })?;
        Ok(Self(socket))
    }

    /// What to ask the kernel about.
    pub(crate) fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// A process that has connected, if it is allowed to.
    pub(crate) fn accept(&self) -> Option<Connection> {
        // SAFETY: no address wanted; the result is owned by nobody else.
        let socket = unsafe {
            let fd = libc::accept4(
                self.0.as_raw_fd(),
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK,
            );
            if fd < 0 {
                return None;
            }
            OwnedFd::from_raw_fd(fd)
        };
        let pid = friend(&socket)?;
        Some(Connection { socket, pid })
    }
}

/// The other side's process, when it is of the same user, or root's.
fn friend(socket: &OwnedFd) -> Option<libc::pid_t> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: a place of that length.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &mut length,
        )
    };
    // SAFETY: takes nothing.
    let own = unsafe { libc::geteuid() };
    (result == 0 && (peer.uid == own || peer.uid == 0)).then_some(peer.pid)
}

/// A process that has connected to the launcher.
pub(crate) struct Connection {
    socket: OwnedFd,
    /// Its process id, as the kernel says.
    pub(crate) pid: libc::pid_t,
}

impl Connection {
    /// What to ask the kernel about.
    pub(crate) fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Its question, and for which rank. `Ok(None)`: nothing yet.
    ///
    /// # Errors
    /// It has ended, or sends nonsense.
    pub(crate) fn asked(&self) -> io::Result<Option<(Ask, usize)>> {
        let mut message = [0u8; MESSAGE];
        // SAFETY: a place of that length.
        let bytes = unsafe { libc::recv(self.fd(), message.as_mut_ptr().cast(), MESSAGE, 0) };
        if bytes < 0 && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock {
            return Ok(None);
        }
        let rank = u32::from_le_bytes([message[4], message[5], message[6], message[7]]) as usize;
        match message[0] {
            b'm' if bytes == MESSAGE as isize => Ok(Some((Ask::Memory, rank))),
            b'c' if bytes == MESSAGE as isize => Ok(Some((Ask::Claimed, rank))),
            _ => Err(io::ErrorKind::ConnectionReset.into()),
        }
    }

    /// Hands a descriptor over.
    ///
    /// # Errors
    /// As the system's.
    pub(crate) fn give(&self, memory: &OwnedFd) -> io::Result<()> {
        let mut byte = [1u8];
        let mut piece = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
        let mut control = Control::new();
        let mut header = control.header(&mut piece);
        // SAFETY: the control message lies in `control`, which has room for one descriptor.
        unsafe {
            let first = libc::CMSG_FIRSTHDR(&header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
            libc::CMSG_DATA(first).cast::<RawFd>().write_unaligned(memory.as_raw_fd());
            header.msg_controllen = (*first).cmsg_len as _;
            if libc::sendmsg(self.fd(), &header, libc::MSG_NOSIGNAL) < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }
}

/// Room for one descriptor beside a message, aligned as the kernel wants it.
struct Control([u64; 8]);

impl Control {
    fn new() -> Self {
        Self([0; 8])
    }

    fn header(&mut self, piece: &mut libc::iovec) -> libc::msghdr {
        // SAFETY: zeroes are a valid header.
        let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        header.msg_iov = piece;
        header.msg_iovlen = 1;
        header.msg_control = self.0.as_mut_ptr().cast();
        header.msg_controllen = size_of::<[u64; 8]>() as _;
        header
    }
}

/// A rank's line to the launcher.
pub(crate) struct Line(OwnedFd);

impl Line {
    /// Connects to the launcher.
    ///
    /// # Errors
    /// `ConnectionRefused` when the launcher has ended; `PermissionDenied` when it belongs to another user.
    pub(crate) fn new(name: &str) -> io::Result<Self> {
        let socket = socket(0)?;
        let (address, length) = address(name);
        // SAFETY: an address of that length.
        check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
        if friend(&socket).is_none() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(Self(socket))
    }

    fn ask(&self, request: Ask, rank: usize) -> io::Result<()> {
        let mut message = [request as u8, 0, 0, 0, 0, 0, 0, 0];
        message[4..].copy_from_slice(&(rank as u32).to_le_bytes());
        // SAFETY: a message of that length.
        let sent =
            unsafe { libc::send(self.0.as_raw_fd(), message.as_ptr().cast(), MESSAGE, libc::MSG_NOSIGNAL) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// The job's memory.
    ///
    /// # Errors
    /// The launcher has ended, or does not accept this process.
    pub(crate) fn memory(&self, rank: usize) -> io::Result<OwnedFd> {
        self.ask(Ask::Memory, rank)?;
        let mut byte = [0u8];
        let mut piece = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
        let mut control = Control::new();
        let mut header = control.header(&mut piece);
        // SAFETY: places of the lengths that the header says; a descriptor that comes is ours.
        unsafe {
            let bytes = loop {
                let bytes = libc::recvmsg(self.0.as_raw_fd(), &mut header, libc::MSG_CMSG_CLOEXEC);
                if bytes >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                    break bytes;
                }
            };
            if bytes < 0 {
                return Err(io::Error::last_os_error());
            }
            let first = libc::CMSG_FIRSTHDR(&header);
            if bytes == 0 || first.is_null() || (*first).cmsg_type != libc::SCM_RIGHTS {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            Ok(OwnedFd::from_raw_fd(libc::CMSG_DATA(first).cast::<RawFd>().read_unaligned()))
        }
    }

    /// Says that this process is the rank, and from now on dies with the launcher: the kernel sends SIGKILL when the
    /// line breaks. The line stays open for the life of the process.
    ///
    /// # Errors
    /// The launcher has gone.
    pub(crate) fn claim(self, rank: usize) -> io::Result<()> {
        self.ask(Ask::Claimed, rank)?;
        let fd = self.0.as_raw_fd();
        std::mem::forget(self.0);
        // SAFETY: flags of a socket of ours, which nothing is sent to any more: the only event is its end.
        unsafe {
            libc::fcntl(fd, F_SETSIG, libc::SIGKILL);
            libc::fcntl(fd, libc::F_SETOWN, libc::getpid());
            libc::fcntl(fd, libc::F_SETFL, libc::O_ASYNC);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};

    #[test]
    fn the_memory_comes_over_the_socket() {
        let name = format!("cellweave-test-{}", std::process::id());
        let listener = Listener::new(&name).unwrap();
        let asking = std::thread::spawn({
            let name = name.clone();
            move || Line::new(&name).unwrap().memory(5).unwrap()
        });
        // SAFETY: a C string and flags; owned by nobody else.
        let memory = unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"test".as_ptr(), 0)) };
        let connection = loop {
            if let Some(connection) = listener.accept() {
                break connection;
            }
        };
        assert_eq!(connection.pid as u32, std::process::id());
        let request = loop {
            if let Some(request) = connection.asked().unwrap() {
                break request;
            }
        };
        assert_eq!(request, (Ask::Memory, 5));
        connection.give(&memory).unwrap();
        let mut received: std::fs::File = asking.join().unwrap().into();
        received.write_all(b"same").unwrap();
        let mut file: std::fs::File = memory.into();
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "same");
    }

    #[test]
    fn a_name_is_taken_by_one_and_free_when_he_has_gone() {
        let name = format!("cellweave-test-name-{}", std::process::id());
        let first = bind(&name).unwrap();
        assert_eq!(bind(&name).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(first);
        bind(&name).unwrap();
        assert_eq!(Line::new("cellweave-nobody").err().unwrap().kind(), io::ErrorKind::ConnectionRefused);
    }
}
