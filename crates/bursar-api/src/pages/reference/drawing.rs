//! Draws states and their moves as SVG: boxes in a column, moves that go on at the right, moves that go back at the left.
//! Each move has a track of its own, so that arrows never run over each other.

use std::fmt::Write as _;

pub(super) struct State {
    pub(super) name: &'static str,
    pub(super) is_first: bool,
    /// Places in the list of states.
    pub(super) next: Vec<usize>,
}

pub(super) struct Drawing<'a> {
    states: &'a [State],
    /// States from top to bottom.
    order: Vec<usize>,
    arrows: Vec<Arrow>,
}

/// Rows count from the top.
#[derive(Clone, Copy)]
struct Arrow {
    from: usize,
    to: usize,
    /// Away from the boxes, from 0. Not used by neighbours.
    track: usize,
}

impl Arrow {
    fn goes_on(self) -> bool {
        self.to > self.from
    }

    fn is_between_neighbours(self) -> bool {
        self.from.abs_diff(self.to) == 1
    }

    fn span(self) -> (usize, usize) {
        (self.from.min(self.to), self.from.max(self.to))
    }

    fn overlaps(self, other: Self) -> bool {
        let ((a, b), (c, d)) = (self.span(), other.span());
        a <= d && c <= b
    }
}

const BOX_WIDTH: usize = 126;
const GAP: usize = 34;
const TRACK: usize = 13;
const PORT: usize = 11;
const BOX_HEIGHT_MIN: usize = 36;
const MARGIN: usize = 6;
const RADIUS: usize = 7;

impl<'a> Drawing<'a> {
    pub(super) fn new(states: &'a [State]) -> Self {
        let order = best_order(states);
        let mut arrows = Vec::new();
        for (from, state) in order.iter().enumerate() {
            for next in &states[*state].next {
                let to = order.iter().position(|other| other == next).unwrap_or(from);
                arrows.push(Arrow { from, to, track: 0 });
            }
        }
        // Short ones first: they stay close to the boxes.
        arrows.sort_by_key(|arrow| (arrow.from.abs_diff(arrow.to), arrow.span()));
        for i in 0..arrows.len() {
            let this = arrows[i];
            if this.is_between_neighbours() {
                continue;
            }
            let is_beside = |other: &&Arrow| {
                !other.is_between_neighbours() && other.goes_on() == this.goes_on() && other.overlaps(this)
            };
            let taken: Vec<usize> = arrows[..i]
                .iter()
                .filter(is_beside)
                .map(|other| other.track)
                .collect();
            arrows[i].track = (0..).find(|track| !taken.contains(track)).unwrap_or(0);
        }
        Self {
            states,
            order,
            arrows,
        }
    }

    pub(super) fn svg(&self, noun: &str) -> String {
        let tracks = |goes_on: bool| {
            self.arrows
                .iter()
                .filter(|arrow| arrow.goes_on() == goes_on && !arrow.is_between_neighbours())
                .map(|arrow| arrow.track + 1)
                .max()
                .unwrap_or(0)
        };
        let room = |tracks: usize| {
            if tracks == 0 { 0 } else { tracks * TRACK + TRACK }
        };
        let left = MARGIN + room(tracks(false));
        let width = left + BOX_WIDTH + room(tracks(true)) + MARGIN;
        let mut tops = vec![MARGIN];
        for row in 0..self.order.len() {
            let top = tops[row] + self.height(row) + GAP;
            tops.push(top);
        }
        let height = tops.pop().unwrap_or(0) - GAP + MARGIN;
        let mut out = format!(
            "<svg class=\"moves\" role=\"img\" aria-label=\"Moves between the statuses of a {noun}; the table says the same\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n"
        );
        for arrow in &self.arrows {
            out.push_str(&self.arrow(*arrow, left, &tops));
        }
        for (row, state) in self.order.iter().enumerate() {
            let state = &self.states[*state];
            let class = match (state.is_first, state.next.is_empty()) {
                (true, _) => "state first",
                (_, true) => "state last",
                _ => "state",
            };
            let (top, height) = (tops[row], self.height(row));
            let _ = writeln!(
                out,
                "<g class=\"{class}\"><rect x=\"{left}\" y=\"{top}\" width=\"{BOX_WIDTH}\" height=\"{height}\" rx=\"7\"/>\
                 <text x=\"{}\" y=\"{}\">{}</text></g>",
                left + BOX_WIDTH / 2,
                top + height / 2 + 4,
                state.name
            );
        }
        out + "</svg>"
    }

    /// The arrows at one side of a row, from top to bottom: those that come from above, the inner track first, then those
    /// that go on below, the outer track first. So they cross as little as possible.
    fn ports(&self, row: usize, goes_on: bool) -> Vec<(usize, usize)> {
        let mut ports: Vec<Arrow> = self
            .arrows
            .iter()
            .copied()
            .filter(|arrow| {
                !arrow.is_between_neighbours()
                    && arrow.goes_on() == goes_on
                    && (arrow.from == row || arrow.to == row)
            })
            .collect();
        let is_above = |arrow: &Arrow| arrow.span().1 == row;
        ports.sort_by_key(|arrow| {
            if is_above(arrow) {
                (0, arrow.track)
            } else {
                (1, usize::MAX - arrow.track)
            }
        });
        ports.into_iter().map(|arrow| (arrow.from, arrow.to)).collect()
    }

    fn height(&self, row: usize) -> usize {
        let most = self.ports(row, true).len().max(self.ports(row, false).len());
        BOX_HEIGHT_MIN.max(most * PORT + PORT)
    }

    fn port_y(&self, row: usize, arrow: Arrow, tops: &[usize]) -> usize {
        let ports = self.ports(row, arrow.goes_on());
        let place = ports
            .iter()
            .position(|port| *port == (arrow.from, arrow.to))
            .unwrap_or(0);
        let spare = self.height(row) - (ports.len() - 1) * PORT;
        tops[row] + spare / 2 + place * PORT
    }

    fn arrow(&self, arrow: Arrow, left: usize, tops: &[usize]) -> String {
        if arrow.is_between_neighbours() {
            return self.straight(arrow, left, tops);
        }
        let (y1, y2) = (
            self.port_y(arrow.from, arrow, tops),
            self.port_y(arrow.to, arrow, tops),
        );
        let away = TRACK + arrow.track * TRACK;
        // To the right of the boxes for moves that go on, else to the left, mirrored.
        let (edge, x, turn, tip) = if arrow.goes_on() {
            (
                left + BOX_WIDTH,
                left + BOX_WIDTH + away,
                left + BOX_WIDTH + away - RADIUS,
                left + BOX_WIDTH + 7,
            )
        } else {
            (left, left - away, left - away + RADIUS, left - 7)
        };
        let (down, up) = if arrow.goes_on() {
            (y1 + RADIUS, y2 - RADIUS)
        } else {
            (y1 - RADIUS, y2 + RADIUS)
        };
        format!(
            "<path class=\"arrow\" d=\"M{edge} {y1}H{turn}Q{x} {y1} {x} {down}V{up}Q{x} {y2} {turn} {y2}H{tip}\"/>\
             <path class=\"head\" d=\"M{edge} {y2}L{tip} {}V{}Z\"/>\n",
            y2 - 4,
            y2 + 4,
        )
    }

    /// Between two boxes, one below the other. Two that go both ways stand beside each other.
    fn straight(&self, arrow: Arrow, left: usize, tops: &[usize]) -> String {
        let is_both = self
            .arrows
            .iter()
            .any(|other| other.from == arrow.to && other.to == arrow.from);
        let middle = left + BOX_WIDTH / 2;
        let x = match (is_both, arrow.goes_on()) {
            (false, _) => middle,
            (true, true) => middle + 12,
            (true, false) => middle - 12,
        };
        let (upper, lower) = arrow.span();
        let (above, below) = (tops[upper] + self.height(upper), tops[lower]);
        let (start, tip, end) = if arrow.goes_on() {
            (above, below - 7, below)
        } else {
            (below, above + 7, above)
        };
        format!(
            "<path class=\"arrow\" d=\"M{x} {start}V{tip}\"/><path class=\"head\" d=\"M{x} {end}L{} {tip}H{}Z\"/>\n",
            x - 4,
            x + 4
        )
    }
}

/// Of all orders, the one with the fewest moves back and the shortest arrows. There are at most seven states.
fn best_order(states: &[State]) -> Vec<usize> {
    let mut best: Option<(usize, Vec<usize>)> = None;
    let mut order: Vec<usize> = Vec::new();
    try_all(states, &mut order, &mut best);
    best.map(|(_, order)| order).unwrap_or_default()
}

fn try_all(states: &[State], order: &mut Vec<usize>, best: &mut Option<(usize, Vec<usize>)>) {
    if order.len() == states.len() {
        let cost = cost(states, order);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            *best = Some((cost, order.clone()));
        }
        return;
    }
    for state in 0..states.len() {
        if !order.contains(&state) {
            order.push(state);
            try_all(states, order, best);
            order.pop();
        }
    }
}

fn cost(states: &[State], order: &[usize]) -> usize {
    let mut cost = 0;
    for (from, state) in order.iter().enumerate() {
        for next in &states[*state].next {
            let to = order.iter().position(|other| other == next).unwrap_or(from);
            let length = from.abs_diff(to);
            cost += if to > from { length } else { length + 2 };
        }
        // People look for the start at the top.
        if states[*state].is_first {
            cost += from * 3;
        }
    }
    cost
}
