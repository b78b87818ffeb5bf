package atspi

import "github.com/gybob/aai-gateway/internal/desktop"

// nearest is the node with the smallest gap so far.
type nearest struct {
	node    *node
	gap     int
	unclear bool // another one is as near
}

// take compares the node with the nearest one. A negative gap means that it is not near.
func (b *nearest) take(n *node, gap int) {
	switch {
	case gap < 0 || b.node == n && gap >= b.gap:
	case b.node == nil || b.node == n || gap < b.gap-tieWithin:
		b.node, b.gap, b.unclear = n, gap, false
	case gap <= b.gap+tieWithin:
		b.unclear = true
		b.gap = min(b.gap, gap)
	}
}

// gapBeside returns the gap between the first frame and the second after it in the same row, or -1.
func gapBeside(first, second desktop.Rect) int {
	overlap := min(first.Y+first.H, second.Y+second.H) - max(first.Y, second.Y)
	gap := second.X - (first.X + first.W)
	if overlap*2 < min(first.H, second.H) || overlap <= 0 || gap < -maxOverlap || gap > maxGapBeside {
		return -1
	}
	return max(gap, 0)
}

// gapBelow returns the gap between the first frame and the second below it, or -1. Their leading edges are
// close; for an unknown direction, those of either side.
func gapBelow(first, second desktop.Rect, d direction) int {
	across := min(first.X+first.W, second.X+second.W) - max(first.X, second.X)
	indent := distance(first.X, second.X)
	if d == unknownDirection {
		indent = min(indent, distance(first.X+first.W, second.X+second.W))
	}
	gap := second.Y - (first.Y + first.H)
	if across <= 0 || indent > maxIndent || gap < -maxOverlap || gap > maxGapAbove {
		return -1
	}
	return max(gap, 0)
}

func distance(a, b int) int { return max(a-b, b-a) }
