//! A machine from what a user typed: `qs22:ppe=1,spe=6`, `host:cpus=0-1`, `lab/server.toml`.

use crate::discover;
use crate::presets::{PRESETS, Preset, PresetOptions};
use crate::{Machine, file};
use ground::{Located, did_you_mean};
use std::path::Path;

/// The longest specification that is looked at; a longer one is no name and no path.
const SPEC_BYTES_MAX: usize = 4096;

/// The machine that `spec` asks for.
///
/// | form | gives |
/// |---|---|
/// | `ps3`, `cell`, `qs20`, `qs22` | a preset, all of it |
/// | `qs22:ppe=1,spe=6` | a part: `ppe` from 1, `spe` from 0 (chip 0 first), `memory=joint` or `separate` |
/// | `host` | this computer, as far as this process may use it |
/// | `host:cpus=0-1,4` | only these of its cpus |
/// | anything with a `/`, or that ends in `.toml` | a machine file |
///
/// ```
/// let machine = machine::load("qs22:ppe=1,spe=6").unwrap();
/// assert_eq!(machine.elements.len(), 7);
/// let wrong = machine::load("qs23").unwrap_err().to_string();
/// assert!(wrong.contains("did you mean `qs2"), "{wrong}");
/// ```
pub fn load(spec: &str) -> Result<Machine, Located> {
    if spec.len() > SPEC_BYTES_MAX {
        return Err(Located::new(format!(
            "a machine of {} letters; a name or a path has at most {SPEC_BYTES_MAX}",
            spec.len()
        )));
    }
    if spec.contains('/') || spec.ends_with(".toml") {
        return file::read(Path::new(spec));
    }
    let (name, options) = spec.split_once(':').unwrap_or((spec, ""));
    let options = options_of(name, options)?;
    if name == "host" {
        return host(&options);
    }
    let Some(preset) = Preset::named(name) else {
        let names: Vec<&str> = list().into_iter().map(|(name, _)| name).collect();
        return Err(Located::new(format!(
            "unknown machine {name:?}; known are {}, and machine files (a path with a / or ending in .toml){}",
            names.join(", "),
            did_you_mean(name, names.iter().copied())
        )));
    };
    Ok(preset.machine(preset_options(preset, &options)?))
}

/// Every machine that [`load`] knows by name, with a line about it.
pub fn list() -> Vec<(&'static str, &'static str)> {
    let presets = PRESETS.iter().map(|p| (p.name, p.description));
    presets.chain([("host", "this computer: the cpus that this process may use")]).collect()
}

/// `key=value` pairs; a comma followed by no `key=` belongs to the value before it.
fn options_of<'a>(machine: &str, text: &'a str) -> Result<Vec<(&'a str, String)>, Located> {
    let mut options: Vec<(&str, String)> = Vec::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        if let Some((key, value)) = part.split_once('=') {
            let key = key.trim();
            if options.iter().any(|(known, _)| *known == key) {
                return Err(Located::new(format!("given twice in {machine}:{text}")).key(key));
            }
            options.push((key, value.trim().into()));
        } else if let Some((_, value)) = options.last_mut() {
            value.push(',');
            value.push_str(part.trim());
        } else {
            return Err(Located::new(format!("{part:?} in {machine}:{text} is not of the form key=value")));
        }
    }
    Ok(options)
}

fn preset_options(preset: Preset, given: &[(&str, String)]) -> Result<PresetOptions, Located> {
    let all = preset.all();
    let mut options = all;
    for (key, value) in given {
        let number = |least: u32, most: u32, what: &str| {
            value.parse().ok().filter(|n| (least..=most).contains(n)).ok_or_else(|| {
                let name = preset.name;
                Located::new(format!(
                    "{value:?} is not a number from {least} to {most}, the {what} of {name}"
                ))
                .key(*key)
            })
        };
        match *key {
            "ppe" => options.ppe = number(1, all.ppe, "PPEs")?,
            "spe" => options.spe = number(0, all.spe, "SPEs")?,
            "memory" => {
                options.joint_memory = match value.as_str() {
                    "joint" => true,
                    "separate" => false,
                    other => {
                        let near = did_you_mean(other, ["joint", "separate"]);
                        return Err(
                            Located::new(format!("{other:?} is neither joint nor separate{near}")).key(*key)
                        );
                    }
                }
            }
            other => return Err(unknown_option(preset.name, other, &["ppe", "spe", "memory"])),
        }
    }
    Ok(options)
}

fn host(given: &[(&str, String)]) -> Result<Machine, Located> {
    let mut cpus = None;
    for (key, value) in given {
        match *key {
            "cpus" => {
                cpus = Some(discover::cpu_list(value).filter(|c| !c.is_empty()).ok_or_else(|| {
                    Located::new(format!("{value:?} is not a list of cpus such as 0-3,8")).key(*key)
                })?);
            }
            other => return Err(unknown_option("host", other, &["cpus"])),
        }
    }
    discover::host(Path::new("/"), cpus.as_deref())
}

fn unknown_option(machine: &str, option: &str, known: &[&str]) -> Located {
    let near = did_you_mean(option, known.iter().copied());
    Located::new(format!("{machine} has no such option; it has {}{near}", known.join(", "))).key(option)
}
