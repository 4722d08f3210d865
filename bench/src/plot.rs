//! Plots as SVG, under `bench/results`.

use std::fmt::Write as _;
use std::path::Path;

use crate::Outcome;

/// Told apart by people who do not see red and green apart, and in grey.
const COLOURS: [&str; 6] = ["#9aa5b1", "#0b6e99", "#e07a1f", "#7b3fa0", "#3a9e57", "#c2365a"];

/// One bar of a chart in groups.
pub(crate) struct Bar {
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) value: f64,
}

/// One line of a chart.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// Beyond this, the shortest bar could not be seen beside the longest one.
const LINEAR_MAX: f64 = 200.0;

/// Horizontal bars, in groups; logarithmic when they lie too far apart.
pub(crate) fn bars(file: &str, title: &str, bars: &[Bar]) -> Outcome {
    let names = distinct(bars.iter().map(|bar| &bar.name));
    let groups = distinct(bars.iter().map(|bar| &bar.group));
    let largest = bars.iter().map(|bar| bar.value).fold(1e-9, f64::max);
    let smallest = bars.iter().map(|bar| bar.value).fold(largest, f64::min).max(1e-9);
    let (left, width, thick) = (130.0, 560.0, 14.0);
    let is_linear = largest / smallest <= LINEAR_MAX;
    let part = |value: f64| {
        if is_linear {
            return value / largest;
        }
        // The shortest has a length, too: it starts from half of its value.
        let start = smallest / 2.0;
        (value / start).ln() / (largest / start).ln()
    };
    let title = if is_linear {
        title.to_owned()
    } else {
        format!("{title} (logarithmic)")
    };
    let mut svg = String::new();
    let mut y = 56.0;
    for group in &groups {
        let _ = writeln!(
            svg,
            r#"<text x="{}" y="{}" text-anchor="end">{group}</text>"#,
            left - 8.0,
            y + 11.0
        );
        for bar in bars.iter().filter(|bar| bar.group == *group) {
            let colour =
                COLOURS[names.iter().position(|name| *name == bar.name).unwrap_or(0) % COLOURS.len()];
            let length = (part(bar.value) * width).max(1.0);
            let _ = writeln!(
                svg,
                r#"<rect x="{left}" y="{y}" width="{length:.1}" height="{}" fill="{colour}"/><text x="{:.1}" y="{}" class="n">{:.1}</text>"#,
                thick - 2.0,
                left + length + 5.0,
                y + 10.0,
                bar.value
            );
            y += thick;
        }
        y += 8.0;
    }
    write(file, &title, &names, &svg, 760.0, y + 10.0)
}

/// Lines over a logarithmic x.
pub(crate) fn lines(file: &str, title: &str, x_name: &str, lines: &[Line]) -> Outcome {
    let names = distinct(lines.iter().map(|line| &line.name));
    let points = || lines.iter().flat_map(|line| &line.points);
    let (low, high) = points().fold((f64::MAX, 1.0_f64), |(low, high), (x, _)| {
        (low.min(*x), high.max(*x))
    });
    let top = points().map(|(_, y)| *y).fold(1e-9, f64::max) * 1.1;
    let (left, width, head, height) = (70.0, 620.0, 56.0, 300.0);
    let place = |x: f64, y: f64| {
        let across = if high > low {
            (x / low).ln() / (high / low).ln()
        } else {
            0.5
        };
        (left + across * width, head + height - y / top * height)
    };
    let mut svg = format!(
        r##"<path d="M{left} {head}V{}H{}" fill="none" stroke="#666"/>"##,
        head + height,
        left + width
    );
    for part in 0..=4 {
        let value = top * f64::from(part) / 4.0;
        let (_, y) = place(low, value);
        let _ = writeln!(
            svg,
            r#"<text x="{}" y="{:.1}" text-anchor="end" class="n">{value:.0}</text>"#,
            left - 6.0,
            y + 4.0
        );
    }
    let mut marks: Vec<f64> = points().map(|(x, _)| *x).collect();
    marks.sort_unstable_by(f64::total_cmp);
    marks.dedup();
    for mark in marks {
        let (x, _) = place(mark, 0.0);
        let _ = writeln!(
            svg,
            r#"<text x="{x:.1}" y="{}" text-anchor="middle" class="n">{mark}</text>"#,
            head + height + 16.0
        );
    }
    let _ = writeln!(
        svg,
        r#"<text x="{}" y="{}" text-anchor="middle">{x_name}</text>"#,
        left + width / 2.0,
        head + height + 36.0
    );
    for line in lines {
        let colour = COLOURS[names.iter().position(|name| *name == line.name).unwrap_or(0) % COLOURS.len()];
        let path: Vec<String> = line
            .points
            .iter()
            .map(|(x, y)| place(*x, *y))
            .map(|(x, y)| format!("{x:.1} {y:.1}"))
            .collect();
        let _ = writeln!(
            svg,
            r#"<path d="M{}" fill="none" stroke="{colour}" stroke-width="2"/>"#,
            path.join("L")
        );
        for (x, y) in line.points.iter().map(|(x, y)| place(*x, *y)) {
            let _ = writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{colour}"/>"#);
        }
    }
    write(file, title, &names, &svg, 760.0, head + height + 50.0)
}

fn distinct<'a>(all: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for one in all {
        if !found.contains(one) {
            found.push(one.clone());
        }
    }
    found
}

fn write(file: &str, title: &str, names: &[String], inner: &str, width: f64, height: f64) -> Outcome {
    let mut legend = String::new();
    let mut x = 12.0;
    for (name, colour) in names.iter().zip(COLOURS.iter().cycle()) {
        let _ = writeln!(
            legend,
            r#"<rect x="{x:.0}" y="34" width="10" height="10" fill="{colour}"/><text x="{:.0}" y="43">{name}</text>"#,
            x + 14.0
        );
        x += 30.0 + 7.0 * f64::from(u32::try_from(name.chars().count()).unwrap_or(0));
    }
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <style>.n{{font-size:10px;fill:#444}}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"12\" y=\"22\" font-size=\"15\">{title}</text>\n{legend}{inner}</svg>\n"
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("results/{file}.svg"));
    std::fs::write(&path, svg).map_err(|error| format!("{}: {error}", path.display()))
}
