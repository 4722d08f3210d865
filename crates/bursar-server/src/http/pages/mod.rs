//! x
pub struct P{pub body:Vec<u8>}
pub fn page(_:&str,_:&str)->Option<P>{None}
