package conversation

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// FilledFields are the fields that hold a secret of the person, and those that were fields for passwords. They count as
// password fields until their program ends, in every gateway of the person: a page may show its password, and a caller may
// delete a part of it so that the rest is no longer recognized. It is safe for concurrent use.
type FilledFields struct {
	// Path is the file that the gateways of the person share; "" shares nothing.
	Path string
	// Repeats reports whether a text repeats a secret that the context's call must not show. Nil means never.
	Repeats func(ctx context.Context, text string) bool
	// Runs reports whether a process runs.
	Runs func(pid int) bool

	mu     sync.Mutex
	seen   fs.FileInfo // the file that fields came from; nil: none
	fields []filledField
}

// filledField identifies a field of one run of a program.
type filledField struct {
	PID     int        `json:"pid"`
	Started string     `json:"started"`
	ID      desktop.ID `json:"id"`
	// IsPassword reports that it was a field for passwords, and that the gateway filled no secret into it.
	IsPassword bool `json:"password,omitempty"`
	// Identifier, Name and Frame are those of its element; they identify the one by which a program replaces it.
	Identifier string       `json:"identifier,omitempty"`
	Name       string       `json:"name,omitempty"`
	Frame      desktop.Rect `json:"frame"`
}

func (o *filledField) isSame(other filledField) bool {
	return o.PID == other.PID && o.Started == other.Started && o.ID == other.ID
}

// isReplacedBy reports whether the element may be the field in another form, such as one that shows its password.
func (o *filledField) isReplacedBy(e *desktop.Element) bool {
	sameName, samePlace := o.Name == e.Name, o.Frame == e.Frame && !e.Frame.Empty()
	return e.Role == desktop.Textbox && (sameName && samePlace || o.Identifier != "" && o.Identifier == e.Identifier && (sameName || samePlace))
}

// maxFilledFields limits the fields; the oldest ones are dropped.
const maxFilledFields = 1000

func fieldLimits() atomicfile.ReadLimits { return atomicfile.ReadLimits{Size: 1 << 20, Private: true} }

// Add adds a field. Callers add it before they fill it.
func (f *FilledFields) Add(ctx context.Context, app desktop.App, id desktop.ID, runs func(pid int) bool) error {
	return f.add(ctx, filledField{PID: app.PID, Started: app.Started, ID: id}, runs)
}

func (f *FilledFields) add(ctx context.Context, one filledField, runs func(pid int) bool) error {
	add := func(fields []filledField) []filledField {
		fields = slices.DeleteFunc(slices.Clone(fields), func(old filledField) bool { return old.isSame(one) || runs != nil && !runs(old.PID) })
		fields = append(fields, one)
		return fields[max(0, len(fields)-maxFilledFields):]
	}
	if f.Path == "" {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.fields = add(f.fields)
		return nil
	}
	return atomicfile.Update(ctx, f.Path, fieldLimits(), func(old []byte) ([]byte, error) {
		var fields []filledField
		if len(old) > 0 {
			if err := json.Unmarshal(old, &fields); err != nil {
				fields = nil // a damaged file is of no use, and others keep what they have read
			}
		}
		return json.Marshal(add(fields))
	})
}

// of returns the fields of the program; nil for none.
func (f *FilledFields) of(app desktop.App) (fields []filledField) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read()
	for _, one := range f.fields {
		if one.PID == app.PID && one.Started == app.Started {
			fields = append(fields, one)
		}
	}
	return fields
}

// has reports whether one of the fields has the id.
func has(fields []filledField, id desktop.ID) bool {
	return slices.ContainsFunc(fields, func(one filledField) bool { return one.ID == id })
}

// read reads the file if it has changed. The caller holds mu.
func (f *FilledFields) read() {
	if f.Path == "" {
		return
	}
	info, err := os.Lstat(f.Path)
	if err != nil || f.seen != nil && os.SameFile(info, f.seen) && info.ModTime().Equal(f.seen.ModTime()) {
		return
	}
	content, err := atomicfile.Read(f.Path, fieldLimits())
	var fields []filledField
	if err == nil && json.Unmarshal(content, &fields) == nil {
		f.seen, f.fields = info, fields
	}
}

// WithFilledFields wraps the trees of the backend, so that filled fields count as password fields.
func WithFilledFields(b desktop.Backend, f *FilledFields) desktop.Backend {
	if b.Tree != nil {
		b.Tree = hidingTree{b.Tree, f}
	}
	if b.Offscreen != nil {
		b.Offscreen = hidingOffscreen{b.Offscreen, f}
	}
	return b
}

// ReadFilled reads a field with the value that the backend hides since it holds a secret.
func ReadFilled(ctx context.Context, b desktop.Backend, app desktop.App, id desktop.ID) (desktop.Element, error) {
	tree := b.Tree
	if hiding, is := tree.(hidingTree); is {
		tree = hiding.Tree
	}
	return tree.Read(ctx, app, id)
}

type hidingTree struct {
	desktop.Tree
	filled *FilledFields
}

// Snapshot implements desktop.Tree.
func (t hidingTree) Snapshot(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	shot, err := t.Tree.Snapshot(ctx, app)
	return t.filled.hide(ctx, shot), err
}

// Read implements desktop.Tree.
func (t hidingTree) Read(ctx context.Context, app desktop.App, id desktop.ID) (desktop.Element, error) {
	e, err := t.Tree.Read(ctx, app, id)
	if has(t.filled.of(app), id) {
		e.States, e.Value = e.States|desktop.Protected, ""
	}
	t.filled.hideTexts(ctx, &e)
	return e, err
}

type hidingOffscreen struct {
	desktop.OffscreenTree
	filled *FilledFields
}

// SnapshotOffscreen implements desktop.OffscreenTree.
func (t hidingOffscreen) SnapshotOffscreen(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	shot, err := t.OffscreenTree.SnapshotOffscreen(ctx, app)
	return t.filled.hide(ctx, shot), err
}

// SnapshotCells implements desktop.OffscreenTree.
func (t hidingOffscreen) SnapshotCells(ctx context.Context, app desktop.App, table desktop.ID, cells desktop.Cells) (*desktop.Snapshot, error) {
	shot, err := t.OffscreenTree.SnapshotCells(ctx, app, table, cells)
	return t.filled.hide(ctx, shot), err
}

// hiddenText stands for a text that repeats a secret.
const hiddenText = "[secret]"

// HidesSecret reports whether a text of the element was hidden because it repeats a secret.
func HidesSecret(e *desktop.Element) bool { return e.Name == hiddenText || e.Value == hiddenText }

// hide returns the snapshot with the filled fields as password fields, and without texts that repeat a secret, so that no
// query can find out its letters. A field that shows a secret counts as filled from then on: a program may replace the
// element of a field.
func (f *FilledFields) hide(ctx context.Context, shot *desktop.Snapshot) *desktop.Snapshot {
	if shot == nil {
		return shot
	}
	if f.Repeats != nil {
		for i := range shot.Elements {
			e := &shot.Elements[i]
			if e.States.Has(desktop.Editable) && e.Value != "" && f.Repeats(ctx, e.Value) && !f.Holds(shot.App, e.ID) {
				_ = f.Add(context.WithoutCancel(ctx), shot.App, e.ID, f.Runs) // the text itself is hidden in any case
			}
		}
	}
	hidden := hideFields(shot, f.follow(ctx, shot))
	for i := range hidden.Elements {
		e := hidden.Elements[i]
		if !f.hideTexts(ctx, &e) {
			continue
		}
		if hidden == shot {
			copied := *shot
			copied.Elements = slices.Clone(shot.Elements)
			hidden = &copied
		}
		hidden.Elements[i] = e
	}
	return hidden
}

// follow adds the fields for passwords in the snapshot, and the elements that replace such fields, and returns all fields.
func (f *FilledFields) follow(ctx context.Context, shot *desktop.Snapshot) []filledField {
	fields := f.of(shot.App)
	var gone []filledField
	for _, one := range fields {
		if shot.Index(one.ID) < 0 {
			gone = append(gone, one)
		}
	}
	for i := range shot.Elements {
		e := &shot.Elements[i]
		password := e.States.Has(desktop.Protected)
		if !password && (len(gone) == 0 || !slices.ContainsFunc(gone, func(one filledField) bool { return one.isReplacedBy(e) })) || has(fields, e.ID) {
			continue
		}
		one := filledField{PID: shot.App.PID, Started: shot.App.Started, ID: e.ID, IsPassword: true, Identifier: e.Identifier, Name: e.Name, Frame: e.Frame}
		fields = append(fields, one) // also if it cannot be stored
		_ = f.add(context.WithoutCancel(ctx), one, f.Runs)
	}
	return fields
}

// hideTexts replaces the texts of the element that repeat a secret, and reports whether there were any.
func (f *FilledFields) hideTexts(ctx context.Context, e *desktop.Element) (found bool) {
	if f.Repeats == nil {
		return false
	}
	for _, text := range []*string{&e.Name, &e.Value, &e.Description, &e.Identifier} {
		if *text != "" && f.Repeats(ctx, *text) {
			*text, found = hiddenText, true
		}
	}
	return found
}

// hideFields returns the snapshot with the fields as password fields. The texts within them, which repeat the value, are
// empty.
func hideFields(shot *desktop.Snapshot, fields []filledField) *desktop.Snapshot {
	if len(fields) == 0 {
		return shot
	}
	hidden := *shot
	hidden.Elements = slices.Clone(shot.Elements)
	for _, one := range fields {
		i := shot.Index(one.ID)
		if i < 0 {
			continue
		}
		hidden.Elements[i].States |= desktop.Protected
		hidden.Elements[i].Value = ""
		for j := i + 1; j < shot.Elements[i].End; j++ {
			hidden.Elements[j].Name, hidden.Elements[j].Value = "", ""
		}
	}
	return &hidden
}

// Has reports whether the program has filled fields.
func (f *FilledFields) Has(app desktop.App) bool {
	return slices.ContainsFunc(f.of(app), func(one filledField) bool { return !one.IsPassword })
}

// Holds reports whether the element is a filled field.
func (f *FilledFields) Holds(app desktop.App, id desktop.ID) bool {
	return slices.ContainsFunc(f.of(app), func(one filledField) bool { return one.ID == id && !one.IsPassword })
}

// Frames returns the places of the filled fields of a program on the screen.
func (f *FilledFields) Frames(shot *desktop.Snapshot) (frames []desktop.Rect) {
	for _, one := range f.of(shot.App) {
		if i := shot.Index(one.ID); i >= 0 && !shot.Elements[i].Frame.Empty() {
			frames = append(frames, shot.Elements[i].Frame)
		}
	}
	return frames
}

// LastFrames returns the places where the fields for passwords of a program were first seen.
func (f *FilledFields) LastFrames(app desktop.App) (frames []desktop.Rect) {
	for _, one := range f.of(app) {
		if !one.Frame.Empty() {
			frames = append(frames, one.Frame)
		}
	}
	return frames
}
