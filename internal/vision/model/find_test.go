package model_test

import (
	"context"
	"image"
	"io"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/vision/model"

	"pgregory.net/rapid"
)

// TestFind lists the answers of a model: a place, no place, or an error after a second try.
func TestFind(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 300, 200))
	box := `{"found": true, "left": 10, "top": 20, "right": 110, "bottom": 60, "confidence": 0.9, "label": "Start"}`
	for name, c := range map[string]struct {
		answers []string
		alias   string // of the error
		found   bool
	}{
		"place":               {[]string{box}, "", true},
		"fenced":              {[]string{"```json\n" + box + "\n```"}, "", true},
		"not there":           {[]string{`{"found": false}`}, "", false},
		"second try":          {[]string{"Let me look.", box}, "", true},
		"prose":               {[]string{"It is at 10, 20.", "Really."}, model.AliasNotJSON, false},
		"prose around":        {[]string{"Here: " + box, box + " Done."}, model.AliasNotJSON, false},
		"two objects":         {[]string{box + box, box + `{"found": false}`}, model.AliasNotJSON, false},
		"outside":             {[]string{strings.Replace(box, "110", "301", 1), strings.Replace(box, "20", "-1", 1)}, model.AliasOutside, false},
		"empty":               {[]string{strings.Replace(box, "110", "10", 1), strings.Replace(box, "60", "20", 1)}, model.AliasOutside, false},
		"huge":                {[]string{strings.Replace(box, "110", "1e300", 1), strings.Replace(box, "10,", "-1e300,", 1)}, model.AliasOutside, false},
		"no right":            {[]string{strings.Replace(box, `"right": 110,`, "", 1), "{}"}, model.AliasNotJSON, false},
		"an instruction":      {[]string{`{"tool": "ax_click", "query": "Delete"}`, `{"found": true, "click": true, "left": 1, "top": 1, "right": 2, "bottom": 2}`}, model.AliasNotJSON, false},
		"list":                {[]string{"[" + box + "]", "null"}, model.AliasNotJSON, false},
		"text in the numbers": {[]string{strings.Replace(box, "110", `"110"`, 1), strings.Replace(box, "true", `"yes"`, 1)}, model.AliasNotJSON, false},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			ask := func(_ context.Context, q model.Question) (model.Answer, error) {
				assert.Assert(t, asked != len(c.answers), "it asks too often")
				asked++
				if len(q.PNG) == 0 || !strings.Contains(q.Text, `"the \"Start\" button"`) {
					t.Errorf("it asks %q", q.Text)
				}
				return model.Answer{Text: c.answers[asked-1], InputTokens: 5}, nil
			}
			place, sum, err := model.Find(t.Context(), ask, model.Fit{Side: 1000}, picture, `the "Start" button`)
			if c.alias != "" {
				e := aai.AsError(err)
				assert.Assert(t, e != nil, err)
				assert.Equal(t, e.Alias, c.alias, err)
			} else if err != nil || place.Found != c.found {
				t.Errorf("it says %+v, %v", place, err)
			}
			assert.Check(t, !(c.found && (place.Frame != image.Rect(10, 20, 110, 60) || place.Confidence != 0.9 || place.Label != "Start")), "the place is %+v", place)
			assert.Equal(t, asked, len(c.answers))
			assert.Equal(t, sum.InputTokens, 5*asked)
		})
	}
}

// TestRefusalsOfModels: a refusal is not asked again, and an answer at the limit is.
func TestRefusalsOfModels(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 30, 20))
	for backend, speaks := range dialects() {
		for alias, body := range map[string]string{model.AliasRefused: speaks.refusal, model.AliasCut: speaks.cut} {
			if body == "" {
				continue
			}
			s := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
			m := s.open(t, backend, true)
			_, _, err := model.Find(t.Context(), m.Ask, m.Fit(), picture, "Start")
			e := aai.AsError(err)
			assert.Assert(t, e != nil, "%s %v", backend, err)
			assert.Equal(t, e.Alias, alias, "%s %v", backend, err)
			want := map[string]int32{model.AliasRefused: 1, model.AliasCut: 2}[alias]
			assert.Check(t, is.Equal(s.requests.Load(), want), "%s: %d requests after %s, want %d", backend, s.requests.Load(), alias, want)
		}
	}
}

// TestPlacesAreMappedBack: a place in the scaled picture maps to the smallest one in the picture that contains it.
func TestPlacesAreMappedBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := image.Pt(rapid.IntRange(1, 4000).Draw(rt, "width"), rapid.IntRange(1, 400).Draw(rt, "height"))
		fit := model.Fit{Side: rapid.IntRange(16, 2000).Draw(rt, "side"), Pixels: rapid.SampledFrom([]int{0, 20_000, 1_150_000}).Draw(rt, "pixels"), InThousandths: rapid.Bool().Draw(rt, "thousandths")}
		picture := image.NewRGBA(image.Rectangle{Max: size})
		space := fit.Scale(picture).Rect.Size()
		assert.Assert(rt, max(space.X, space.Y) <= fit.Side, "the scaled picture has %v", space)
		assert.Assert(rt, fit.Pixels <= 0 || space.X*space.Y <= fit.Pixels, "the scaled picture has %v", space)
		if fit.InThousandths {
			space = image.Pt(1000, 1000)
		}
		left, top := rapid.IntRange(0, space.X-1).Draw(rt, "left"), rapid.IntRange(0, space.Y-1).Draw(rt, "top")
		small := image.Rect(left, top, rapid.IntRange(left+1, space.X).Draw(rt, "right"), rapid.IntRange(top+1, space.Y).Draw(rt, "bottom"))
		got := model.Enlarge(small, space, size)
		assert.Assert(rt, !got.Empty(), "%v of %v maps to %v of %v", small, space, got, size)
		assert.Assert(rt, got.In(picture.Rect), "%v of %v maps to %v of %v", small, space, got, size)
		contains := func(g image.Rectangle) bool { // without rounding
			return g.Min.X*space.X <= small.Min.X*size.X && g.Min.Y*space.Y <= small.Min.Y*size.Y && g.Max.X*space.X >= small.Max.X*size.X && g.Max.Y*space.Y >= small.Max.Y*size.Y
		}
		assert.Assert(rt, contains(got), "%v of %v maps to %v, which does not contain it", small, space, got)
		for _, less := range []image.Rectangle{{got.Min.Add(image.Pt(1, 0)), got.Max}, {got.Min.Add(image.Pt(0, 1)), got.Max}, {got.Min, got.Max.Sub(image.Pt(1, 0))}, {got.Min, got.Max.Sub(image.Pt(0, 1))}} {
			assert.Assert(rt, !contains(less), "%v of %v maps to %v, and %v contains it too", small, space, got, less)
		}
	})
}
