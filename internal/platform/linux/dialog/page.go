package dialog

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

// Limits for a window.
const (
	maxLabel = 48 // of a button, in bytes
	maxLines = 24 // of the text, so that the buttons stay on the screen
	// maxColumns is the width at which lines are wrapped. GTK 2 itself wraps lines at the
	// width of 65 average letters, and would not mark the continuation.
	maxColumns   = 52
	maxFirstLine = maxColumns + 4 // of the first line, which is padded to it
	// maxPages is the maximum number of pages of a question: people cannot read more in the time.
	maxPages         = 6
	maxText          = 1 << 16
	continuationMark = "↳ "     // begins the continuation of a line
	blank            = "\u00a0" // pads text to equal width
)

// A page is the content of one window. All of it is plain text.
type page struct {
	title   string   // of the window
	text    string   // the first line is the gateway's own text
	buttons []string // at least the refusal, which is the first, the default, and the result of Escape
	// number asks for the number of a button, if buttons are lines of the text.
	number  string
	closing string // the label of a further button that refuses, where a program has one
	// choices are the buttons' results: the index of a choice, or one of the constants below.
	choices []int
}

// The results of buttons that are no answers.
const (
	nextPage = -1 // the next page
	samePage = -2 // the same page: this button is no answer
)

// A layout builds the pages of one question.
type layout struct {
	words     messages
	presenter presenter
	labels    []string
	pages     []page
}

// layOut returns the pages of a question. The first pages show the whole text and offer
// only a refusal until the last of them; details follow, with the remaining answers. Each
// position has the same kind of button on every page: the first refuses, the last of
// buttons, or the second of a list, leads to another page, and the rest answer. layOut
// fails if the text does not fit on maxPages pages.
func (d *Dialog) layOut(q aai.Question, way presenter) ([]page, error) {
	l := layout{words: d.messages(), presenter: way, labels: make([]string, len(q.Choices))}
	q = l.words.withoutValues(q, way)
	var answers, refusals []int
	for i, c := range q.Choices {
		l.labels[i] = aai.CleanLabel(c.Label, maxLabel)
		if i > 0 && c.IsRefusal {
			refusals = append(refusals, i)
		} else if i > 0 {
			answers = append(answers, i)
		}
	}
	asked, details := l.chunks(q.Title+"\n\n"+q.Text), []string(nil)
	if q.Details != "" {
		details = l.chunks(whoAsks(q) + q.Details)
	}
	if len(asked) == 0 || len(asked) > maxPages || q.Details != "" && len(details) == 0 {
		return nil, errTooLong
	}
	if len(asked) == 1 && q.Details == "" && len(q.Choices) <= way.maxButtons {
		p := page{title: l.words.title, number: l.words.number, closing: l.words.closing,
			text: l.words.heading + "\n" + asked[0], buttons: l.labels}
		for i := range q.Choices {
			p.choices = append(p.choices, i)
		}
		return []page{p}, nil
	}
	for i, text := range asked[:len(asked)-1] {
		l.add(l.numbered(i, len(asked)), text, 0, nil)
	}
	heading, last := l.numbered(len(asked)-1, len(asked)), asked[len(asked)-1]
	if way.isList {
		l.add(heading, last, 0, append(answers, refusals...))
		for _, text := range details {
			l.add(l.words.details, text, 0, nil)
		}
	} else {
		l.spread(heading, append([]string{last}, details...), answers)
		for _, refusal := range refusals {
			l.add(l.words.heading, l.words.forGood+"\n\n"+l.first(q.Title), refusal, nil)
		}
	}
	l.lead(len(asked) - 1)
	l.even()
	return l.pages, nil
}

// whoAsks returns the first line of a question, which its details begin with too.
func whoAsks(q aai.Question) string {
	line, _, more := strings.Cut(q.Text, "\n")
	if !more || strings.HasPrefix(line, aai.QuoteMark) {
		return ""
	}
	return line + "\n"
}

// even makes all windows about equally large, and their buttons equally wide, so that each
// keeps its position. A list has no buttons.
func (l *layout) even() {
	tallest, longest := 0, 0
	for _, p := range l.pages {
		tallest = max(tallest, strings.Count(p.text, "\n"))
		for _, label := range p.buttons {
			longest = max(longest, width(label))
		}
	}
	for i := range l.pages {
		p := &l.pages[i]
		heading, text, _ := strings.Cut(p.text, "\n")
		p.text = heading + fill(heading, maxFirstLine) + "\n" + text
		for strings.Count(p.text, "\n") < tallest && size(p.text+"\n"+blank) <= l.presenter.maxBytes {
			p.text += "\n" + blank
		}
		for j, label := range p.buttons {
			if !l.presenter.isList {
				half := fill("", (longest-width(label))/2)
				p.buttons[j] = half + label + half
			}
		}
	}
}

// spread distributes the answers over the pages, as many as fit on each, until each text
// and each answer has been shown.
func (l *layout) spread(heading string, texts []string, answers []int) {
	room := l.presenter.maxButtons - 2
	groups := max(1, (len(answers)+room-1)/room)
	for i := range max(len(texts), groups) {
		from := i % groups * room
		l.add(heading, texts[min(i, len(texts)-1)], 0, answers[from:min(from+room, len(answers))])
		heading = l.words.details
	}
}

// add appends a page. Its button for another page has no label yet.
func (l *layout) add(heading, text string, refusal int, answers []int) {
	p := page{title: l.words.title, number: l.words.number, closing: l.words.closing, text: heading + "\n" + text,
		buttons: []string{l.labels[refusal]}, choices: []int{refusal}}
	put := func(label string, means int) {
		p.buttons, p.choices = append(p.buttons, label), append(p.choices, means)
	}
	if l.presenter.isList {
		put("", nextPage)
	}
	for _, i := range answers {
		put(l.labels[i], i)
	}
	if !l.presenter.isList {
		for len(p.buttons) < l.presenter.maxButtons-1 {
			put(l.words.nothing, samePage)
		}
		put("", nextPage)
	}
	l.pages = append(l.pages, p)
}

// lead labels the buttons for another page, and the placeholder on pages before the last
// of the question.
func (l *layout) lead(last int) {
	for i, p := range l.pages {
		label := l.words.more
		switch {
		case i == len(l.pages)-1:
			label = l.words.back
		case i < last:
			label = l.words.next
		}
		for j, means := range p.choices {
			if means == nextPage {
				p.buttons[j] = label
			}
			if means == samePage && j == 1 && i < last {
				p.buttons[j] = l.words.readOn
			}
		}
	}
}

// numbered returns the first line of a page.
func (l *layout) numbered(i, of int) string {
	if of == 1 {
		return l.words.heading
	}
	return fmt.Sprintf(l.words.numbered, l.words.heading, i+1, of)
}

// chunks splits a text into parts that fit on a page each. It returns none if the text is
// too long to be read.
func (l *layout) chunks(text string) []string {
	if len(text) > maxText {
		return nil
	}
	var given []string
	for line := range strings.Lines(aai.CleanText(text, maxText)) {
		given = append(given, strings.TrimRight(strings.ReplaceAll(line, "\t", " "), "\r\n "))
	}
	heading := fmt.Sprintf(l.words.numbered, l.words.heading, maxPages, maxPages)
	room := l.presenter.maxBytes - size(heading+"\n") - len(fill(l.words.heading, maxFirstLine))
	var chunks []string
	var chunk []string
	for _, line := range wrap(given) {
		if len(chunk) == maxLines-1 || size(strings.Join(append(chunk, line), "\n")) > room {
			chunks = append(chunks, strings.Join(chunk, "\n"))
			chunk = nil
		}
		if len(chunk) > 0 || line != "" {
			chunk = append(chunk, line)
		}
	}
	if len(chunk) > 0 || len(chunks) == 0 {
		chunks = append(chunks, strings.Join(chunk, "\n"))
	}
	return chunks
}

// first returns the part of a text that fits on one page.
func (l *layout) first(text string) string {
	chunks := l.chunks(text)
	if len(chunks) == 0 {
		return ""
	}
	return chunks[0]
}

// size returns the number of bytes of a text, including the escapes of protocols.
func size(text string) int { return len(text) + 2*(strings.Count(text, "\n")+strings.Count(text, "%")) }

// wrap wraps long lines. Continuations of quoted text keep the quote mark. Each
// continuation also gets a mark of its own kind, since a window may show it in the middle:
// no wrapped line can look like a new one.
func wrap(lines []string) []string {
	var out []string
	for _, line := range lines {
		mark := ""
		if strings.HasPrefix(line, aai.QuoteMark) {
			mark = aai.QuoteMark
			line = line[len(mark):]
		}
		for {
			at := breakAt(line, maxColumns-utf8.RuneCountInString(mark))
			out = append(out, strings.TrimRight(mark+line[:at], " "))
			if line = strings.TrimLeft(line[at:], " "); line == "" {
				break
			}
			if !strings.HasSuffix(mark, continuationMark) {
				mark += continuationMark
			}
		}
	}
	return out
}

// breakAt returns the number of bytes of the line that fit into the width: up to the last
// space, or within a word that is longer than the line.
func breakAt(line string, width int) int {
	space, used := 0, 0
	for i, r := range line {
		used += cells(r)
		if used > width {
			if space > 0 {
				return space
			}
			return max(i, 1)
		}
		if r == ' ' {
			space = i
		}
	}
	return len(line)
}

// cells returns the approximate width of a character, rather too much than too little.
func cells(r rune) int {
	if 'A' <= r && r <= 'Z' || strings.ContainsRune("mw@%&#<>=+~_", r) || r > '~' {
		return 2
	}
	return 1
}

// width returns the width of a text, in cells.
func width(text string) int {
	used := 0
	for _, r := range text {
		used += cells(r)
	}
	return used
}

// fill returns blanks that pad a text to the width. A blank is half as wide as a letter.
func fill(text string, wide int) string {
	return strings.Repeat(blank, 2*max(0, wide-width(text)))
}
