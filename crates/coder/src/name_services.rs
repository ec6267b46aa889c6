//! Names of hosts and accounts are looked up with what is built in, never with modules of the machine.
//!
//! A statically linked libc that is told by `/etc/nsswitch.conf` to use another module (`myhostname`, `sss`, …) loads it from
//! the machine, and a module that was made for another version of libc ends the process. Files and DNS are built in.

use std::ffi::{CStr, c_char, c_int};

unsafe extern "C" {
    /// Overrides what `/etc/nsswitch.conf` says about one database, for this process (glibc, `nss.h`).
    fn __nss_configure_lookup(database: *const c_char, services: *const c_char) -> c_int;
}

const SERVICES: [(&CStr, &CStr); 4] = [
    (c"hosts", c"files dns"),
    (c"passwd", c"files"),
    (c"group", c"files"),
    (c"initgroups", c"files"),
];

/// Keeps this process to `/etc/hosts` and DNS, `/etc/passwd` and `/etc/group`. To be called before anything is looked up.
pub fn keep_to_built_in() {
    for (database, services) in SERVICES {
        // SAFETY: both are strings that end with a zero, and no other thread runs yet.
        let refused = unsafe { __nss_configure_lookup(database.as_ptr(), services.as_ptr()) };
        debug_assert_eq!(refused, 0, "libc knows {database:?}");
    }
}
