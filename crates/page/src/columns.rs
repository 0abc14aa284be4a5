//! Columns of numbers as bytes that deflate well and that the page reads into typed arrays (`page/src/data/columns.ts`).
//!
//! A column's bytes are laid out in planes, the lowest byte of every value first: the upper planes are mostly zeros.

use serde::Serialize;

/// Where a column is and what it holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Place {
    /// Planes that are stored, 1 to 8: as many as the largest value needs.
    width: usize,
    /// Values.
    length: usize,
    /// First byte.
    offset: usize,
    /// Each value but the first is the difference to the one before.
    delta: bool,
    /// The 8 bytes are a floating-point number.
    float: bool,
}

/// Columns behind each other.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    bytes: Vec<u8>,
    places: std::collections::BTreeMap<&'static str, Place>,
}

impl Columns {
    fn push(&mut self, name: &'static str, values: &[u64], delta: bool, float: bool) {
        let most = values.iter().fold(0, |most, value| most | value);
        let width = if float { 8 } else { (64 - most.leading_zeros() as usize).div_ceil(8).max(1) };
        let offset = self.bytes.len();
        for plane in 0..width {
            self.bytes.extend(values.iter().map(|value| value.to_le_bytes()[plane]));
        }
        self.places.insert(name, Place { width, length: values.len(), offset, delta, float });
    }

    pub(crate) fn u8(&mut self, name: &'static str, values: &[u8]) {
        self.push(name, &values.iter().map(|value| u64::from(*value)).collect::<Vec<_>>(), false, false);
    }

    pub(crate) fn u32(&mut self, name: &'static str, values: &[u32]) {
        self.push(name, &values.iter().map(|value| u64::from(*value)).collect::<Vec<_>>(), false, false);
    }

    /// Values that mostly rise: their differences are stored, which wrap around at 2³² where one falls.
    pub(crate) fn rising(&mut self, name: &'static str, values: &[u32]) {
        let mut before = 0;
        let differences = values.iter().map(|value| {
            let difference = value.wrapping_sub(before);
            before = *value;
            u64::from(difference)
        });
        let differences: Vec<_> = differences.collect();
        self.push(name, &differences, true, false);
    }

    /// Whole numbers that may need more than 32 bits; the page holds them as floating-point numbers.
    pub(crate) fn u64(&mut self, name: &'static str, values: &[u64]) {
        self.push(name, values, false, false);
    }

    pub(crate) fn f64(&mut self, name: &'static str, values: &[f64]) {
        self.push(name, &values.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), false, true);
    }

    pub(crate) fn into_parts(self) -> (Vec<u8>, std::collections::BTreeMap<&'static str, Place>) {
        (self.bytes, self.places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_hold_the_lowest_bytes_first() {
        let mut columns = Columns::default();
        columns.u8("kind", &[7]);
        columns.u32("stack", &[0x0102_0304, 0x0506_0708]);
        let (bytes, places) = columns.into_parts();
        assert_eq!(bytes, [7, 4, 8, 3, 7, 2, 6, 1, 5]);
        assert_eq!(places["stack"], Place { width: 4, length: 2, offset: 1, delta: false, float: false });
    }

    #[test]
    fn planes_that_hold_nothing_are_left_out() {
        let mut columns = Columns::default();
        columns.u32("small", &[1, 2]);
        columns.u64("large", &[1 << 40, 0]);
        columns.u32("none", &[]);
        columns.f64("float", &[0.0]);
        let (_, places) = columns.into_parts();
        let widths = ["small", "large", "none", "float"].map(|name| places[name].width);
        assert_eq!(widths, [1, 6, 1, 8]);
    }

    #[test]
    fn a_rising_column_may_fall() {
        let mut columns = Columns::default();
        columns.rising("time", &[10, 12, 11]);
        let (bytes, _) = columns.into_parts();
        assert_eq!(&bytes[..3], [10, 2, 255]);
    }
}
