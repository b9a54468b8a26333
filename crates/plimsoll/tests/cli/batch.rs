//! `plimsoll batch`

mod status;
