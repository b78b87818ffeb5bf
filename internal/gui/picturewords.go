package gui

import (
	"context"
	"errors"
	"image"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
	"github.com/gybob/aai-gateway/internal/vision"
)

// Texts that a program draws are in no tree. They are read in a picture of the window, and get refs: a click on such a
// ref first checks that the picture there is still the same.

// maxPhrases limits the texts of one picture in a reply.
const maxPhrases = 400

// maxPictureChange is the share of pixels that may differ where a text was read: a pointer or a caret may be there.
const maxPictureChange = 0.1

// phrase is a line of words in a picture of a window, with its ref.
type phrase struct {
	Text       string  `json:"text"`
	Ref        string  `json:"element_ref"`
	Position   []int   `json:"position"` // on the screen
	Size       []int   `json:"size"`
	Confidence float64 `json:"confidence"`
	frame      image.Rectangle
}

// readWords reads the texts of the picture, which shows the window from the point origin, and gives them refs.
func (d *engine) readWords(ctx context.Context, call *aai.Call, app desktop.App, w desktop.WindowInfo, picture *image.RGBA, origin image.Point) ([]phrase, error) {
	gateway.Progress(ctx, 1, 2, "Reading the words in the picture")
	lines, err := d.words.Read(ctx, picture)
	if err != nil {
		return nil, wordsError(err)
	}
	session := d.Sessions.For(call)
	var found []phrase
	for _, line := range lines[:min(len(lines), maxPhrases)] {
		p := phrase{Confidence: 1}
		var texts []string
		for _, word := range line {
			texts = append(texts, word.Text)
			p.frame = p.frame.Union(word.Frame)
			p.Confidence = min(p.Confidence, float64(word.Confidence)/100)
		}
		p.Text = aai.CleanLabel(strings.Join(texts, " "), 300)
		p.Ref = session.AddPictureWord(conversation.PictureWord{
			Text: p.Text, Process: conversation.ProcessOf(app), Window: w.ID, Frame: p.frame.Add(origin), Picture: vision.Crop(picture, p.frame),
		})
		at := p.frame.Add(origin).Add(image.Pt(w.Frame.X, w.Frame.Y))
		p.Position, p.Size = []int{at.Min.X, at.Min.Y}, []int{at.Dx(), at.Dy()}
		found = append(found, p)
	}
	gateway.Progress(ctx, 2, 2, "Words read")
	return found, nil
}

// wordsError returns the error of the reader for callers.
func wordsError(err error) error {
	if !errors.Is(err, vision.ErrNotInstalled) {
		return aai.Errorf(aai.AutomationFailed, "the words in the picture cannot be read: %w", err)
	}
	e := aai.Errorf(aai.AutomationNotSupported, "the words in the picture cannot be read: %w", err)
	e.Hint = "The person can install it: sudo apt install tesseract-ocr, and for other languages such as German tesseract-ocr-deu."
	return e
}

// listPhrases returns the texts with their refs, a line each.
func listPhrases(all []phrase) string {
	var b strings.Builder
	for _, p := range all {
		b.WriteString(p.Text + p.mark() + "\n")
	}
	return b.String()
}

// mark returns the ref in brackets, or "" for a text without one.
func (p *phrase) mark() string {
	if p.Ref == "" {
		return ""
	}
	return " [" + p.Ref + "]"
}

// pictureWord returns the text of a picture that the call's query names by its ref.
func (d *engine) pictureWord(call *aai.Call, app desktop.App) (conversation.PictureWord, bool) {
	query := params.String(call, "query")
	if query == "" {
		return conversation.PictureWord{}, false
	}
	word, is := d.Sessions.For(call).PictureWord(query)
	return word, is && word.Process.PID == app.PID
}

// withWord adds the text of a picture that the call names, if it does.
func (v *view) withWord(hit aai.TargetElement) aai.TargetElement {
	if word, is := v.engine.pictureWord(v.call, v.app); is {
		return wordTarget(hit, word)
	}
	return hit
}

// wordTarget adds a text of a picture to the target of a call. The picture may say anything, so the effect is unknown.
func wordTarget(hit aai.TargetElement, word conversation.PictureWord) aai.TargetElement {
	if hit.Name == "" {
		hit.Name = aai.CleanLabel(word.Text, maxRecordedName)
	}
	hit.AllText, hit.UnknownEffect = strings.TrimSpace(hit.AllText+" "+word.Text+" "+word.Near), true
	return hit
}

// placeOf returns the middle of the text on the screen now, and its window.
func (v *view) placeOf(ctx context.Context, word conversation.PictureWord) (desktop.Point, desktop.WindowInfo, error) {
	own, err := v.appWindows(ctx)
	if err != nil {
		return desktop.Point{}, desktop.WindowInfo{}, err
	}
	i := slices.IndexFunc(own, func(w desktop.WindowInfo) bool { return w.ID == word.Window && !w.Minimized })
	if i < 0 || word.Process != conversation.ProcessOf(v.app) {
		return desktop.Point{}, desktop.WindowInfo{}, staleWord(word, "its window is gone")
	}
	at := word.Frame.Min.Add(word.Frame.Size().Div(2))
	return desktop.Point{X: own[i].Frame.X + at.X, Y: own[i].Frame.Y + at.Y}, own[i], nil
}

// staleWord returns the error for a text that is no longer where it was read.
func staleWord(word conversation.PictureWord, problem string) error {
	e := aai.Errorf(aai.StaleRef, "the text %q was read in a picture, and %s", aai.CleanLabel(word.Text, 60), problem)
	e.Delivery, e.Hint = aai.NotDelivered, "Read the picture again: ax_screenshot with text, or the tool "+findVisualName+"."
	return e
}

// lostWordError returns the error for the ref of a text that the conversation does not have.
func (v *view) lostWordError(ref string) error {
	e := aai.Errorf(aai.StaleRef, "%s is the ref of no text that was read in a picture in this conversation", ref)
	e.Delivery, e.Hint = aai.NotDelivered, "Read the picture again: ax_screenshot with text, or the tool "+findVisualName+"."
	if v.call.Caller.Door == aai.DoorCLI {
		e.Hint = "Each command is a conversation of its own. Give the words in place of the ref, and --visual: aai-gateway click PROGRAM WORDS --visual."
	}
	return e
}

// clickWord clicks the middle of a text, if the picture there is still as it was when it was read.
func (v *view) clickWord(ctx context.Context, word conversation.PictureWord) (*aai.Result, error) {
	at, w, err := v.placeOf(ctx, word)
	if err != nil {
		return nil, err
	}
	picture, err := v.engine.captureUnlessTyped(ctx, v.app, w)
	if err != nil {
		return nil, err
	}
	if !word.Frame.In(picture.Rect) || vision.DifferingShare(word.Picture, vision.Crop(picture, word.Frame)) > maxPictureChange {
		return nil, staleWord(word, "the window shows something else there now")
	}
	return v.clickPointOf(ctx, at, w)
}

// captureUnlessTyped captures a window of the program, unless a password is typed in it.
func (d *engine) captureUnlessTyped(ctx context.Context, app desktop.App, w desktop.WindowInfo) (picture *image.RGBA, err error) {
	if d.OpenBackend().Screen == nil {
		return nil, guierr.Unsupported("pictures of the screen")
	}
	_, err = d.CaptureUnlessPassword(ctx, app.PID, func() (*aai.Result, error) {
		picture, err = d.pictureOfWindow(ctx, app, w)
		return nil, err
	})
	return picture, err
}

// windowByIndex returns the call's window of the program: window_index as ax_list_windows counts.
func (d *engine) windowByIndex(ctx context.Context, call *aai.Call, app desktop.App) (desktop.WindowInfo, error) {
	own, err := programs.WindowsOf(ctx, d.OpenBackend(), app)
	if err != nil {
		return desktop.WindowInfo{}, err
	}
	n := params.Int(call, "window_index", 0)
	if n < 0 || n >= len(own) {
		return desktop.WindowInfo{}, noSuchWindow(app, len(own))
	}
	return own[n], nil
}
