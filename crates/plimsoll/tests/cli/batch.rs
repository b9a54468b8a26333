//! `plimsoll batch`

mod plan;
mod status;
