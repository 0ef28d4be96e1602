//! A crate.
use std::fmt;

/// Most of them.
pub const MAX: usize = 3;
static mut COUNT: u32 = 0;

/// A point.
#[derive(Debug, Clone)]
pub struct Point<T> {
    pub x: T,
    y: T,
}

pub struct Unit;
struct Pair(i32, i32);

pub enum Shape { Circle { r: f64 }, Square(f64), Empty }

pub union Word { i: u32, f: f32 }

pub trait Draw: fmt::Debug {
    type Out;
    const N: usize = 1;
    fn draw(&self) -> Self::Out;
    fn twice(&self) { self.draw(); }
}

impl<T: Copy> Point<T> {
    pub const ZERO: i32 = 0;
    /// Makes one.
    pub fn new(x: T, y: T) -> Self where T: Default {
        fn inner() {}
        let f = |a| a;
        Self { x, y }
    }
}

impl<T> Draw for Point<T> {
    type Out = ();
    fn draw(&self) -> () {}
}

mod deep {
    pub async unsafe fn leaf<'a>(s: &'a str) -> &'a str { s }
}

type Alias = Vec<Point<f32>>;

macro_rules! square { ($x:expr) => { $x * $x }; }

extern "C" { fn from_c(x: i32); }

fn broken( { }

fn after() {}
