package ei_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/platform/linux/ei"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// An oracle is testdata/xkb.py.
type oracle struct {
	in  *json.Encoder
	out *json.Decoder
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	testkit.Need(t, "python3")
	cmd := exec.CommandContext(t.Context(), "python3", "testdata/xkb.py")
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	assert.NilError(t, err)
	out, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &oracle{in: json.NewEncoder(in), out: json.NewDecoder(out)}
}

func (o *oracle) ask(t *testing.T, request map[string]any, answer any) {
	t.Helper()
	assert.NilError(t, o.in.Encode(request))
	assert.NilError(t, o.out.Decode(answer))
}

func (o *oracle) keymap(t *testing.T, layouts, variant string) (text string) {
	t.Helper()
	o.ask(t, map[string]any{"layouts": layouts, "variant": variant}, &text)
	return text
}

// TestLayouts: every stroke types its character by the word of libxkbcommon, also while Caps Lock and Num Lock are on;
// and the letters that the layout is known for are there.
func TestLayouts(t *testing.T) {
	const caps, num = 1 << 1, 1 << 4
	xkbcommon := newOracle(t)
	for _, c := range []struct {
		layouts, variant string
		group            int
		locked           uint32
		has, lacks       string
	}{
		{"us", "", 0, 0, `The quick brown fox yz;:_'"#~{}[]\|@€`, "äß漢😀"},
		{"us", "", 0, caps | num, `The quick brown fox yz;:_'"#~{}[]\|@€`, "äß漢😀"},
		{"de", "", 0, 0, `The quick brown fox yz;:_'"#~{}[]\|@äöüÄÖÜß€µ`, "漢😀"},
		{"de", "", 0, caps | num, `The quick brown fox yz;:_'"#~{}[]\|@äöüÄÖÜ€`, "ß漢😀"},
		{"fr", "", 0, 0, `The quick brown fox yz;:_'"#{}[]\|@éèçàù€`, "漢😀"},
		{"us,ru", "", 1, 0, "Привет, мир", "hä漢"},
		{"ru,us", "", 1, 0, "Hello", "Пä"},
		{"gr", "", 0, 0, "Γειασου", "ä"},
		{"ua", "", 0, 0, "їєґ", "ä"},
		{"il", "", 0, 0, "שלום", "ä"},
		{"pl", "", 0, 0, "zażółć", "漢"},
		{"de", "neo", 0, 0, "äöüß{}", "漢"},
		{"us", "dvorak", 0, 0, "hello", "ä"},
		{"cz", "", 0, 0, "ěščřžýáíé", "漢"},
		{"tr", "", 0, 0, "ığşİ", "漢"},
	} {
		t.Run(fmt.Sprint(c.layouts, c.variant, c.group, c.locked), func(t *testing.T) {
			text := xkbcommon.keymap(t, c.layouts, c.variant)
			keymap, err := ei.ParseKeymap(text)
			assert.NilError(t, err)
			layout := keymap.Layout(c.group, c.locked)
			var chars []rune
			var strokes [][]uint32
			for r := rune(' '); r < 0x3000; r++ {
				if sym, ok := keysym.Of(r); ok {
					if s, ok := layout.Stroke(sym); ok {
						chars, strokes = append(chars, r), append(strokes, append(slices.Clone(s.Modifiers), s.Code))
					}
				}
			}
			var got []rune
			xkbcommon.ask(t, map[string]any{"keymap": text, "group": c.group, "locked": c.locked, "strokes": strokes}, &got)
			assert.Check(t, is.Equal(string(got), string(chars)), "the strokes for\n%s type\n%s", string(chars), string(got))
			for _, r := range c.has {
				assert.Check(t, strings.ContainsRune(string(chars), r), "the layout has no %q", r)
			}
			for _, r := range c.lacks {
				assert.Check(t, !strings.ContainsRune(string(chars), r), "the layout has %q", r)
			}
		})
	}
}

// TestDamagedKeymap: a keymap that ends anywhere gives an error or fewer keys, and never hangs.
func TestDamagedKeymap(t *testing.T) {
	text := newOracle(t).keymap(t, "de", "")
	for end := 0; end < len(text); end += 97 {
		k, err := ei.ParseKeymap(text[:end])
		assert.Check(t, err != nil, "the first %d bytes are a keymap: %+v", end, k)
	}
}
