package vision_test

import (
	"fmt"
	"image"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/vision"

	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	texts := []string{"Approve", "Refund all", "Total 12.50 €", "approve", "Weekly Report", "Settlngs"}
	for description, want := range map[string][]int{
		"Approve": {0, 3}, "the Approve button": {0, 3}, `the button "Refund all" on the right`: {1}, "refund": {1}, "total 12.50 €": {2},
		"Settings": {5}, "Report": {4}, "the button": nil, "Publish": nil, "": nil,
	} {
		got := vision.Match(texts, description)
		assert.Check(t, slices.Equal(got, want), "%q matches %v, want %v", description, got, want)
	}
}

// TestMarksStayApart: labels are drawn for random frames, and only within the picture.
func TestMarksStayApart(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		picture := image.NewRGBA(image.Rect(0, 0, 300, 200))
		var marks []vision.Mark
		for i := range rapid.IntRange(0, 30).Draw(rt, "marks") {
			x, y := rapid.IntRange(-50, 320).Draw(rt, "x"), rapid.IntRange(-50, 220).Draw(rt, "y")
			w, h := rapid.IntRange(0, 200).Draw(rt, "w"), rapid.IntRange(0, 100).Draw(rt, "h")
			marks = append(marks, vision.Mark{Label: fmt.Sprint("e", i), Frame: image.Rect(x, y, x+w, y+h)})
		}
		labels := vision.DrawMarks(picture, marks, image.Pt(0, 0), 1)
		for i, a := range labels {
			assert.Check(rt, a.In(picture.Rect), "the label %v is not in the picture", a)
			for _, b := range labels[i+1:] {
				assert.Check(rt, !a.Overlaps(b), "the labels %v and %v overlap", a, b)
			}
		}
	})
}

// TestDifferingShare: a moved text differs, a caret hardly.
func TestDifferingShare(t *testing.T) {
	one, other := image.NewRGBA(image.Rect(0, 0, 50, 20)), image.NewRGBA(image.Rect(0, 0, 50, 20))
	for y := range 20 {
		other.Pix[y*other.Stride+40] = 255
	}
	assert.Check(t, is.Equal(vision.DifferingShare(one, other), 0.02))
	got := vision.DifferingShare(one, image.NewRGBA(image.Rect(0, 0, 51, 20)))
	assert.Check(t, got == 1, "another size is %v", got)
}
