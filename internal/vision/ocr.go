package vision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/gybob/aai-gateway/internal/process"
)

// ErrNotInstalled is returned where Tesseract or a language of it is not installed.
var ErrNotInstalled = errors.New("tesseract is not installed")

const (
	// ocrScale is the factor of enlarge.
	ocrScale = 2
	// maxOCRPixels limits the picture, before it is enlarged.
	maxOCRPixels = 16 << 20
	// maxOCROutput limits the output of Tesseract, in bytes.
	maxOCROutput = 8 << 20
	// minConfidence is the confidence, in percent, below which a word does not count.
	minConfidence = 30
	// minMarkConfidence is the same for words without a letter: the corners of buttons look like marks.
	minMarkConfidence = 80
	// maxUnflat is the share of dark pixels from which a flattened picture is no text on areas of one color.
	maxUnflat = 0.12
)

// A Word is a word in a picture.
type Word struct {
	Text       string
	Frame      image.Rectangle
	Confidence int // in percent
}

// A Reader reads words in pictures. It is safe for concurrent use.
type Reader struct {
	// Environ returns the environment of Tesseract; its locale chooses the languages beside English.
	Environ func() []string

	mu        sync.Mutex
	languages string // of the last successful search
}

// Read returns the lines of words in the picture, from above to below, each from left to right.
func (r *Reader) Read(ctx context.Context, picture *image.RGBA) ([][]Word, error) {
	if n := picture.Rect.Dx() * picture.Rect.Dy(); n == 0 || n > maxOCRPixels {
		return nil, fmt.Errorf("the picture has %d pixels; expected 1 to %d", n, maxOCRPixels)
	}
	program, err := exec.LookPath("tesseract")
	if err != nil {
		return nil, ErrNotInstalled
	}
	languages, err := r.findLanguages(ctx, program)
	if err != nil {
		return nil, err
	}
	flat := flatten(picture)
	words, err := r.pass(ctx, program, languages, flat)
	if err != nil {
		return nil, err
	}
	if darkShare(flat) > maxUnflat {
		more, err := r.pass(ctx, program, languages, grayOf(picture))
		if err != nil {
			return nil, err
		}
		words = merge(words, more)
	}
	return linesOf(words), nil
}

// darkShare returns the share of dark pixels.
func darkShare(picture *image.Gray) float64 {
	dark := 0
	for _, p := range picture.Pix {
		if p < 128 {
			dark++
		}
	}
	return float64(dark) / float64(len(picture.Pix))
}

// pass reads one picture.
func (r *Reader) pass(ctx context.Context, program, languages string, picture *image.Gray) ([]Word, error) {
	large := enlarge(picture)
	header := fmt.Sprintf("P5\n%d %d\n255\n", large.Rect.Dx(), large.Rect.Dy())
	out, err := r.run(ctx, exec.Command(program, "stdin", "stdout", "-l", languages, "--psm", "11", "--dpi", "150", "tsv"), [][]byte{[]byte(header), large.Pix}) //nolint:noctx // ended by run
	if err != nil {
		return nil, err
	}
	return parseTSV(out)
}

// run runs Tesseract with the input, and returns its output.
func (r *Reader) run(ctx context.Context, cmd *exec.Cmd, input [][]byte) (string, error) {
	cmd.Env = os.Environ()
	if r.Environ != nil {
		cmd.Env = r.Environ()
	}
	cmd.Env = append(cmd.Env, "OMP_THREAD_LIMIT=1") // more threads make it slower
	p, err := process.Start(cmd, process.Limits{NoChildren: true})
	if err != nil {
		return "", fmt.Errorf("tesseract cannot be started: %w", err)
	}
	defer p.Kill()
	stop := context.AfterFunc(ctx, p.Kill)
	defer stop()
	go func() {
		for _, part := range input {
			if _, err := p.Stdin.Write(part); err != nil {
				break
			}
		}
		_ = p.Stdin.Close()
	}()
	defer p.Stdout.Close() //nolint:errcheck // it was only read
	out, err := io.ReadAll(io.LimitReader(p.Stdout, maxOCROutput+1))
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("the output of tesseract cannot be read: %w", err)
	case len(out) > maxOCROutput:
		return "", errors.New("the output of tesseract is too long")
	}
	<-p.Exited()
	if state := p.State(); state == nil || !state.Success() {
		return "", errors.New("tesseract failed")
	}
	return string(out), nil
}

// parseTSV returns the words in Tesseract's table.
func parseTSV(table string) ([]Word, error) {
	var words []Word
	for n, line := range strings.Split(table, "\n") {
		fields := strings.Split(strings.TrimSuffix(line, "\r"), "\t")
		if n == 0 || fields[0] != "5" {
			continue
		}
		const columns = 12
		if len(fields) != columns {
			return nil, fmt.Errorf("line %d of the output of tesseract has %d columns, expected %d", n+1, len(fields), columns)
		}
		var at [4]int
		for i := range at {
			v, err := strconv.Atoi(fields[6+i])
			if err != nil {
				return nil, fmt.Errorf("line %d of the output of tesseract: %w", n+1, err)
			}
			at[i] = v
		}
		confidence, err := strconv.ParseFloat(fields[10], 64)
		if err != nil {
			return nil, fmt.Errorf("line %d of the output of tesseract: %w", n+1, err)
		}
		text := strings.TrimSpace(fields[11])
		hasLetter := strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		if text == "" || confidence < minConfidence || !hasLetter && confidence < minMarkConfidence {
			continue
		}
		left, top := at[0]/ocrScale, at[1]/ocrScale
		frame := image.Rect(left, top, (at[0]+at[2]+ocrScale-1)/ocrScale, (at[1]+at[3]+ocrScale-1)/ocrScale)
		words = append(words, Word{text, frame, int(confidence)})
	}
	return words, nil
}

// merge adds the words of more that are where words has none.
func merge(words, more []Word) []Word {
	found := slices.Clone(words)
	for _, w := range more {
		if !slices.ContainsFunc(words, func(o Word) bool { return o.Frame.Overlaps(w.Frame) }) {
			found = append(found, w)
		}
	}
	return found
}

// linesOf sorts words into lines: a word belongs to a line if the middle of its height is within the line's first word,
// and the gap to the last word of the line is at most three times its height.
func linesOf(words []Word) [][]Word {
	words = slices.Clone(words)
	slices.SortFunc(words, func(a, b Word) int { return cmp.Compare(a.Frame.Min.X, b.Frame.Min.X) })
	var lines [][]Word
	for _, w := range words {
		middle := (w.Frame.Min.Y + w.Frame.Max.Y) / 2
		at := slices.IndexFunc(lines, func(line []Word) bool {
			first, last := line[0].Frame, line[len(line)-1].Frame
			return middle >= first.Min.Y && middle < first.Max.Y && w.Frame.Min.X-last.Max.X <= maxWordGap*w.Frame.Dy()/2 && w.Frame.Min.X >= last.Max.X-last.Dy()
		})
		if at < 0 {
			lines = append(lines, []Word{w})
			continue
		}
		lines[at] = append(lines[at], w)
	}
	slices.SortStableFunc(lines, func(a, b []Word) int {
		return cmp.Or(cmp.Compare(a[0].Frame.Min.Y, b[0].Frame.Min.Y), cmp.Compare(a[0].Frame.Min.X, b[0].Frame.Min.X))
	})
	return lines
}

// maxWordGap is the greatest gap between words of one line, in half heights of a word.
const maxWordGap = 2
