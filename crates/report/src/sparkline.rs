//! A series of numbers as one line of bars.
//!
//! Bars start at zero, so that a bar twice as high is twice as much. Labels and units are the caller's.

use slowpath_diagnose::findings::Series;

/// A drawn series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sparkline {
    /// One character a column.
    pub bars: String,
    /// The y that the first column stands for.
    pub first: f64,
    /// The y that the last column stands for.
    pub last: f64,
}

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// Draws `series` in at most `columns` columns; none if fewer than two of its points are finite.
pub(crate) fn sparkline(series: &Series, columns: usize, unicode: bool) -> Option<Sparkline> {
    let heights = resample(&series.x, &series.y, columns);
    let (first, last) = (*heights.first()?, *heights.last()?);
    if heights.len() < 2 {
        return None;
    }
    let low = heights.iter().copied().fold(0.0, f64::min);
    let high = heights.iter().copied().fold(0.0, f64::max);
    let ramp = if unicode { BLOCKS } else { ASCII };
    let bars = heights.iter().map(|y| {
        // Halved first: the difference of two finite numbers may not be finite.
        let part = (y / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        let step = if part.is_finite() { (part * 8.0).ceil() as usize } else { 1 };
        ramp[step.clamp(1, 8) - 1]
    });
    Some(Sparkline { bars: bars.collect(), first, last })
}

/// The mean y of equal steps of x; a step without a point takes the line between its neighbours.
fn resample(x: &[f64], y: &[f64], columns: usize) -> Vec<f64> {
    let mut points: Vec<(f64, f64)> =
        x.iter().copied().zip(y.iter().copied()).filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(&(left, _)), Some(&(right, _))) = (points.first(), points.last()) else { return Vec::new() };
    let columns = columns.min(points.len());
    if columns < 2 {
        return Vec::new();
    }
    // Equal counts of points instead of equal steps where x has no extent.
    let by_index = !(right - left).is_finite() || right <= left;
    let mut steps = vec![(0.0, 0u32); columns];
    let count = points.len();
    for (i, (x, y)) in points.into_iter().enumerate() {
        let part = if by_index { i as f64 / count as f64 } else { (x - left) / (right - left) };
        let step = &mut steps[((part * columns as f64) as usize).min(columns - 1)];
        step.1 += 1;
        // A running mean, since a sum could overflow.
        step.0 += (y - step.0) / f64::from(step.1);
    }
    let filled: Vec<(usize, f64)> =
        steps.iter().enumerate().filter(|(_, step)| step.1 > 0).map(|(i, step)| (i, step.0)).collect();
    let mut heights = Vec::with_capacity(columns);
    for pair in filled.windows(2) {
        let ((from, low), (to, high)) = (pair[0], pair[1]);
        heights.extend((from..to).map(|i| {
            let part = (i - from) as f64 / (to - from) as f64;
            low * (1.0 - part) + high * part
        }));
    }
    heights.extend(filled.last().map(|(_, y)| *y));
    heights.retain(|y| y.is_finite());
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(y: &[f64], columns: usize) -> Option<Sparkline> {
        draw_at(&(0..y.len()).map(|i| i as f64).collect::<Vec<_>>(), y, columns)
    }

    fn draw_at(x: &[f64], y: &[f64], columns: usize) -> Option<Sparkline> {
        let text = String::new;
        let series = Series {
            name: text(),
            x_label: text(),
            y_label: text(),
            y_unit: text(),
            x: x.to_vec(),
            y: y.to_vec(),
            fit: Vec::new(),
        };
        sparkline(&series, columns, true)
    }

    #[test]
    fn growth_climbs_from_the_lowest_bar_to_the_highest() {
        let line = draw(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 40).unwrap();
        assert_eq!(line, Sparkline { bars: "▁▂▃▄▅▆▇█".to_owned(), first: 1.0, last: 8.0 });
    }

    #[test]
    fn a_flat_series_is_flat_and_not_on_the_ground() {
        assert_eq!(draw(&[5.0; 4], 40).unwrap().bars, "████");
        assert_eq!(draw(&[0.0; 4], 40).unwrap().bars, "▁▁▁▁");
    }

    #[test]
    fn many_points_are_averaged_into_few_columns() {
        let y: Vec<f64> = (0..1000).map(f64::from).collect();
        let line = draw(&y, 10).unwrap();
        assert_eq!(line.bars.chars().count(), 10);
        assert_eq!(line.first, 49.5);
    }

    #[test]
    fn gaps_in_x_are_bridged() {
        let line = draw_at(&[0.0, 1.0, 2.0, 9.0], &[0.0, 0.0, 0.0, 8.0], 4).unwrap();
        assert_eq!(line.bars, "▁▃▆█");
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        assert_eq!(draw(&[f64::NAN, 1.0, f64::INFINITY, 2.0], 40).unwrap().bars.chars().count(), 2);
        assert_eq!(draw(&[f64::NAN, 1.0], 40), None);
        assert_eq!(draw(&[], 40), None);
        assert_eq!(draw(&[1.0, 2.0], 0), None);
        assert!(draw_at(&[f64::MIN, f64::MAX], &[f64::MIN, f64::MAX], 2).is_some());
        assert!(draw_at(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0], 3).is_some());
    }
}
