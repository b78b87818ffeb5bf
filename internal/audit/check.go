package audit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"

	"github.com/gybob/aai-gateway/internal/answer"
)

// A checker verifies the chain line by line.
type checker struct {
	v         *answer.Verification
	keys      *keys
	visitLine func(line []byte, good bool, file string) error

	next     chainKey // of the record after seq
	seq      uint64   // of the last good record
	last     seal
	started  bool
	keySteps uint64 // derived keys so far
	guesses  int

	file     string
	lastFile bool
	gap      gap

	needed     uint64 // records up to this one must have been pruned
	neededSeal seal   // that record's seal, according to the first existing record
	prunedSeal string // its seal, according to the record of the pruning

	keptKey   chainKey // of the record after keptSeq, for kept lines
	keptSeq   uint64
	keptFiles []keptFile
	prunings  []recordedPruning
}

// A gap describes the bytes after the last good record that are not the expected record.
type gap struct {
	bytes    int64
	hasEntry bool // a line of it is JSON, which no crash leaves: it could pass for an entry
	endLine  bool // it ends with a newline
}

func (g *gap) add(text, whole []byte) {
	g.bytes += int64(len(text))
	g.hasEntry = g.hasEntry || json.Valid(whole)
	g.endLine = len(whole) < len(text)
}

// isTorn reports whether a crash may leave such a gap: parts of lines, and unwritten
// space. Several crashes leave several parts, because a repair can be torn too.
func (g *gap) isTorn() bool { return !g.hasEntry }

// matches reports whether the gap has the size in the record, with or without the newline
// that the repair appended.
func (g *gap) matches(torn int64) bool {
	return g.bytes == torn || g.endLine && g.bytes == torn+1
}

// read verifies the lines of one file, and passes them to visitLine. Lines of a file
// outside the chain are never good.
func (c *checker) read(ctx context.Context, f openFile) error {
	if !f.chained {
		c.v.Unchained = append(c.v.Unchained, f.name)
	}
	if f.chained && !c.started && f.first > 0 && f.first < longestChain {
		c.start(f.first)
	}
	for text, err := range splitLines(io.NewSectionReader(f.file, 0, f.size)) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		whole := bytes.TrimSuffix(text, []byte("\n"))
		good := f.chained && c.line(text, whole)
		if err := c.visitLine(whole, good, f.name); err != nil {
			return err
		}
	}
	if !c.lastFile && c.gap.bytes > 0 {
		addFault(c.v, answer.Tampered, c.seq+1, c.file, "what stands at the end of the file is not record %d", c.seq+1)
		c.gap = gap{}
	}
	return nil
}

// maxKeySteps limits the keys that a verification derives for records ahead of the
// expected one. That takes a second or two. A line that needs more counts as a gap.
const maxKeySteps = 1 << 24

// maxTries is the number of lines that are tried as the first remaining record, if neither
// the state nor a file name tells its number.
const maxTries = 10

// line checks one line and reports whether it is an unchanged record.
func (c *checker) line(text, whole []byte) bool {
	l, ok := parseLink(whole)
	if ok && !c.started && l.seq < longestChain && c.guesses < maxTries {
		c.guesses++
		if l.sealedBy(c.keys.First.ahead(l.seq - 1)) {
			c.start(l.first())
		}
	}
	skipped := l.seq - c.seq - 1
	if !ok || l.seq <= c.seq || skipped > maxKeySteps-c.keySteps {
		c.gap.add(text, whole)
		return false
	}
	c.keySteps += skipped
	k := c.next.ahead(skipped)
	if !l.sealedBy(k) {
		c.gap.add(text, whole)
		return false
	}
	c.checkGap(l, l.event(), skipped)
	c.next, c.seq, c.last, c.gap = k.next(), l.seq, l.seal, gap{}
	if c.v.Records == 0 {
		c.v.First = l.seq
	}
	c.v.Records++
	c.v.Last = l.seq
	c.checkAnchored(l, c.file)
	return true
}

// start makes the record number first the expected one.
func (c *checker) start(first uint64) {
	c.started = true
	c.needed = first - 1
	c.next, c.seq = c.keys.First.ahead(first-1), first-1
}

// checkGap judges the gap before the good record l. It contains skipped record numbers; e
// is the event of l.
func (c *checker) checkGap(l link, e event, skipped uint64) {
	due := c.seq + 1
	repaired := e.Kind == repairedKind
	switch {
	case repaired && (e.Lost != skipped || !c.gap.matches(e.Torn)), !repaired && skipped > 0:
		if skipped > 0 {
			addFault(c.v, answer.Tampered, due, c.file, "record %d is missing or was changed; record %d comes next", due, l.seq)
			return
		}
		addFault(c.v, answer.Tampered, due, c.file, "%d bytes before it are not what was there", c.gap.bytes)
		return
	case !repaired && c.gap.bytes > 0:
		addFault(c.v, answer.Tampered, due, c.file, "%d bytes were put in before it", c.gap.bytes)
		return
	case repaired && e.Torn > 0 && !c.gap.isTorn():
		addFault(c.v, answer.Tampered, due, c.file, "%d bytes were put in before it that no crash leaves", c.gap.bytes)
		return
	case repaired && e.Cause == causeCut:
		addFault(c.v, answer.Truncated, due, c.file, "%d records were taken away from here", e.Lost)
		return
	case repaired && e.Cause == causeNoState:
		addFault(c.v, answer.Unproven, l.seq, c.file, "the state of the chain (the file .chain) was missing, so records between record %d and this one may have been removed", c.seq)
	case repaired:
		c.v.Repairs = append(c.v.Repairs, answer.Repair{Record: l.seq, Torn: e.Torn, Lost: e.Lost})
	case e.Kind == prunedKind:
		c.prunings = append(c.prunings, recordedPruning{e, l.seq})
		c.v.Pruned = max(c.v.Pruned, e.Through)
		if e.Through == c.needed {
			c.prunedSeal = e.Seal
		}
	}
	switch {
	case skipped == 0 && c.v.Records == 0 && c.needed > 0:
		c.neededSeal = l.prev
	case skipped == 0 && l.prev != c.last:
		addFault(c.v, answer.Tampered, due, c.file, "it does not follow on record %d", c.seq)
	}
}

// checkEnd compares the files with other sources: the state, the anchor, and the records
// of prunings.
func (c *checker) checkEnd(s *snapshot, boot [16]byte) {
	due := c.seq + 1
	switch {
	case s.hasState && s.state.seq > c.seq:
		c.checkShortFile(s, boot)
	case c.gap.bytes > 0 && c.gap.isTorn():
		c.v.Repairs = append(c.v.Repairs, answer.Repair{Torn: c.gap.bytes, Pending: true})
	case c.gap.bytes > 0:
		addFault(c.v, answer.Tampered, due, c.file, "%d bytes were put in after the last record", c.gap.bytes)
	}
	if c.needed > 0 && c.v.Pruned < c.needed {
		addFault(c.v, answer.Truncated, 1, "", "records up to %d are missing, and no record says that they were pruned", c.needed)
	}
	if c.prunedSeal != "" && c.neededSeal != (seal{}) && c.prunedSeal != c.neededSeal.String() {
		addFault(c.v, answer.Tampered, c.needed+1, "", "it does not follow on the last record that was pruned")
	}
	c.judgeKept(s.firstRecord)
	a := c.keys.Anchor
	if a != nil {
		c.checkAnchor(a)
	}
	if !s.hasState && len(s.files) > 0 {
		addFault(c.v, answer.Unproven, due, c.file, "the state of the chain (the file .chain) is missing, so records after record %d may have been removed", c.seq)
	}
}

// checkAnchor compares the files with the anchor.
func (c *checker) checkAnchor(a *anchor) {
	due := c.seq + 1
	c.v.Anchor = a.Seq
	switch {
	case !c.keys.signed(a):
		addFault(c.v, answer.Tampered, a.Seq, "", "the anchor was not signed by the chain's key")
	case a.Seq > c.seq:
		addFault(c.v, answer.Truncated, due, c.file, "records are missing that were there when record %d was anchored", a.Seq)
	}
}

// checkShortFile judges a file that ends before the last written record.
func (c *checker) checkShortFile(s *snapshot, boot [16]byte) {
	due, lost := c.seq+1, s.state.seq-c.seq
	crash := s.state.causeOfLoss(boot) == causeCrash && c.seq >= s.state.durable && c.gap.isTorn()
	switch {
	case crash:
		c.v.Repairs = append(c.v.Repairs, answer.Repair{Torn: c.gap.bytes, Lost: lost, Pending: true})
	case c.gap.endLine:
		addFault(c.v, answer.Tampered, due, c.file, "record %d was changed", due)
	default:
		addFault(c.v, answer.Truncated, due, c.file, "%d records are missing at the end", lost)
	}
}
