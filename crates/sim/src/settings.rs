//! Parameters by name, for callers that know them only at run time: `mfc.lines`, `link.command[0]`.

use crate::{Parameters, SimError};

/// A number of [`Parameters`], whatever its type.
trait Number {
    /// The greatest value that fits.
    fn most(&self) -> u64;
    fn get(&self) -> u64;
    /// The caller has compared with [`most`](Self::most).
    fn set(&mut self, value: u64);
}

macro_rules! numbers {
    ($($type:ty)*) => {
        $(impl Number for $type {
            fn most(&self) -> u64 {
                Self::MAX as u64
            }

            fn get(&self) -> u64 {
                *self as u64
            }

            fn set(&mut self, value: u64) {
                *self = value as $type;
            }
        })*
    };
}

numbers!(u8 u32 u64 usize);

macro_rules! visit {
    ($with:ident, $p:ident { $($plain:ident)* } $($section:ident { $($field:ident $([$i:literal])?)* })*) => {
        $($with(stringify!($plain), &mut $p.$plain);)*
        $($($with(
            concat!(stringify!($section), ".", stringify!($field) $(, "[", $i, "]")?),
            &mut $p.$section.$field$([$i])?,
        );)*)*
    };
}

impl Parameters {
    /// Every number, with its name as [`check`](Self::check) says it.
    fn each(&mut self, mut with: impl FnMut(&'static str, &mut dyn Number)) {
        visit!(with, self { chips timebase_hz memory_bytes }
            rules { alone_from_hops per_ring start_interval gap margin }
            spu { dma tag_status channel decrementer stolen_per_line }
            mfc {
                queue proxy_queue to_bus list_element lines remote_lines[0] remote_lines[1] line_interval tlb_entries
                page_bytes tlb_miss memory_token
            }
            bus { command_interval coherence source sink link_ramp }
            memory { latency line bank turnaround burst writes_waiting ppe_cache_line }
            link { command[0] command[1] data line_ps[0] line_ps[1] shared_line_ps }
            ppe { register proxy cached uncached misses }
        );
    }

    /// The name and value of every number.
    ///
    /// ```
    /// let numbers = sim::Parameters::default().numbers();
    /// assert!(numbers.contains(&("mfc.queue", 16)));
    /// ```
    pub fn numbers(&self) -> Vec<(&'static str, u64)> {
        let mut found = Vec::new();
        self.clone().each(|name, number| found.push((name, number.get())));
        found
    }

    /// Sets the number that is called `name`; whether it can be simulated is for [`check`](Self::check) to say.
    ///
    /// ```
    /// let mut p = sim::Parameters::default();
    /// p.set("mfc.lines", 32)?;
    /// assert_eq!(p.mfc.lines, 32);
    /// assert!(p.set("mfc.linse", 32).is_err());
    /// # Ok::<(), sim::SimError>(())
    /// ```
    ///
    /// # Errors
    /// [`SimError::Parameter`] when it does not fit; [`SimError::Request`] when there is no such number.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), SimError> {
        let mut done = Err(SimError::Request(format!("no parameter {name}")));
        self.each(|known, number| {
            if known == name {
                done = if value <= number.most() {
                    number.set(value);
                    Ok(())
                } else {
                    let (name, value) = (name.into(), value.to_string());
                    Err(SimError::Parameter { name, value, allowed: format!("at most {}", number.most()) })
                };
            }
        });
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of all numbers as `{:#?}` shows them.
    fn shown(p: &Parameters) -> Vec<String> {
        let (text, mut path, mut names) = (format!("{p:#?}"), Vec::<String>::new(), Vec::new());
        let mut index = None;
        for line in text.lines().skip(1).map(str::trim) {
            let name = line.split(':').next().unwrap_or_default().to_string();
            if line.ends_with('{') {
                path.push(name + ".");
            } else if line.ends_with('[') {
                path.push(name);
                index = Some(0);
            } else if line.starts_with('}') || line.starts_with(']') {
                path.pop();
                index = None;
            } else if let Some(i) = &mut index {
                names.push(format!("{}[{i}]", path.concat()));
                *i += 1;
            } else if line.trim_end_matches(',').rsplit(' ').next().is_some_and(|v| v.parse::<u64>().is_ok())
            {
                names.push(path.concat() + &name);
            }
        }
        names
    }

    #[test]
    fn every_number_has_its_name() {
        let p = Parameters::default();
        let mut named: Vec<String> = p.numbers().iter().map(|(name, _)| (*name).into()).collect();
        let mut shown = shown(&p);
        named.sort();
        shown.sort();
        assert_eq!(named, shown);
    }

    #[test]
    fn what_is_set_is_what_is_read_and_nothing_else_changes() {
        let before = Parameters::default().numbers();
        for &(name, value) in &before {
            let mut p = Parameters::default();
            p.set(name, value + 1).unwrap();
            let changed: Vec<_> = p.numbers().into_iter().filter(|n| !before.contains(n)).collect();
            assert_eq!(changed, [(name, value + 1)]);
        }
    }

    #[test]
    fn a_number_that_does_not_fit_is_refused_with_the_most_that_does() {
        let error = Parameters::default().set("rules.per_ring", 256).unwrap_err();
        assert_eq!(error.to_string(), "the machine's parameter rules.per_ring is 256; allowed: at most 255");
    }
}
