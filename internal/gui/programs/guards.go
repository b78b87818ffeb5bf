package programs

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// WithInputLock wraps the backend with two guards. No action that may move the focus of the person begins while a
// question is open. No action reaches the prompt of another program for the person. Backend.Input is not wrapped: it
// acquires the lock itself.
func WithInputLock(b desktop.Backend, s *inputlock.Lock) desktop.Backend {
	if b.Actor != nil {
		b.Actor = promptGuardActor{b.Actor, b.Tree}
	}
	if s == nil {
		return b
	}
	s.SetPauseReason(b.PauseReason)
	if b.Actor != nil {
		b.Actor = lockedActor{b.Actor, s}
	}
	if b.Programs != nil {
		b.Programs = lockedPrograms{b.Programs, s}
	}
	return b
}

type promptGuardActor struct {
	desktop.Actor
	tree desktop.Tree
}

// Execute implements desktop.Actor.
func (a promptGuardActor) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	if act.Verb != desktop.RefreshText {
		if err := CheckPersonPrompts(ctx, a.tree, app, ReachesElement(id)); err != nil {
			return err
		}
	}
	return a.Actor.Execute(ctx, app, id, act)
}

type lockedActor struct {
	desktop.Actor
	inputLock *inputlock.Lock
}

// Execute implements desktop.Actor. Pressing may open a window, which gets the keyboard; setting
// text and numbers does not.
func (a lockedActor) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	switch act.Verb {
	case desktop.SetText, desktop.InsertText, desktop.SetNumber, desktop.ScrollTo, desktop.RefreshText:
		if err := a.inputLock.AwaitResume(ctx); err != nil {
			return err
		}
		return a.Actor.Execute(ctx, app, id, act)
	case desktop.Press, desktop.SelectItem, desktop.TakeFocus:
	}
	done, err := a.inputLock.Begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return a.Actor.Execute(ctx, app, id, act)
}

type lockedPrograms struct {
	desktop.Programs
	inputLock *inputlock.Lock
}

// Start implements desktop.Programs. It does not release the lock, because the program shows its
// window only after Start returns. The time limit of Lock.Begin, one second, releases it.
func (p lockedPrograms) Start(ctx context.Context, program desktop.Program, args []string) (int, error) {
	if _, err := p.inputLock.Begin(ctx); err != nil {
		return 0, err
	}
	return p.Programs.Start(ctx, program, args)
}

// A ReachFunc reports whether an action could operate a prompt that only the person may answer. root
// is the index of the prompt's root element in shot.
type ReachFunc func(shot *desktop.Snapshot, root int) bool

// ReachesElement returns the ReachFunc of an action on the element.
func ReachesElement(id desktop.ID) ReachFunc {
	return func(shot *desktop.Snapshot, root int) bool {
		i := shot.Index(id)
		return root <= i && i < shot.Elements[root].End
	}
}

// ReachesPoints returns the ReachFunc of a pointer action at the points.
func ReachesPoints(at ...desktop.Point) ReachFunc {
	return func(shot *desktop.Snapshot, root int) bool {
		frame := shot.Elements[root].Frame
		return isPortal(shot.App) || slices.ContainsFunc(at, frame.Contains)
	}
}

// NewChordReach returns the ReachFunc for pressing a chord. Escape, F6 and chords with Alt or Meta reach
// a prompt from everywhere in its window; other chords reach it as text does, see ReachesByText.
func NewChordReach(chord desktop.Chord) ReachFunc {
	everywhere := chord.Key == "escape" || chord.Key == "f6" || slices.ContainsFunc(chord.Modifiers, func(m string) bool { return m == "alt" || m == "meta" })
	return func(shot *desktop.Snapshot, root int) bool { return everywhere || ReachesByText(shot, root) }
}

// ReachesByText is the ReachFunc of typed text.
func ReachesByText(shot *desktop.Snapshot, root int) bool {
	return isPortal(shot.App) || shot.App.PromptsTakeText || slices.ContainsFunc(shot.Elements[root:shot.Elements[root].End], func(e desktop.Element) bool { return e.States.Has(desktop.Focused) })
}

// CheckPersonPrompts returns an error if the action would reach a question that only the person may
// answer. These are a portal's window that is no chooser, and a browser's permission prompt.
func CheckPersonPrompts(ctx context.Context, tree desktop.Tree, app desktop.App, reaches ReachFunc) error {
	portal := isPortal(app)
	if !portal && (tree == nil || !isBrowser(app)) {
		return nil
	}
	e := aai.Errorf(aai.PermissionDenied, "%s asks a question that is for the person at this computer, and no tool answers it", aai.CleanLabel(app.Name, 60))
	e.Hint, e.Delivery = "Ask the person to answer it in its window; go on when it is gone.", aai.NotDelivered
	if tree == nil {
		return e
	}
	shot, err := tree.Snapshot(ctx, app)
	if err != nil {
		if portal {
			return e
		}
		return nil // the action itself reports why the browser cannot be read
	}
	for _, root := range promptRoots(shot, portal) {
		if shot.Elements[root].States.Has(desktop.Showing) && reaches(shot, root) {
			return e
		}
	}
	return nil
}

// isPortal reports whether the program shows the dialogs of a desktop portal.
func isPortal(app desktop.App) bool {
	return slices.ContainsFunc([]string{app.ID, app.Name, filepath.Base(app.Executable)}, func(name string) bool {
		return strings.HasPrefix(name, "xdg-desktop-portal") || strings.HasPrefix(name, "io.elementary.portal")
	})
}

// promptRoots returns the indexes of the windows and prompts that ask the person. For a portal these are all windows
// except choosers; for a browser its own prompts, and nothing of a page.
func promptRoots(shot *desktop.Snapshot, portal bool) (roots []int) {
	if portal {
		return slices.DeleteFunc(shot.Children(-1), func(top int) bool { return isChooser(shot.Elements[top:shot.Elements[top].End]) })
	}
	for i := range shot.Elements {
		if isPrompt(shot.Elements[i].Identifier) {
			if root := promptOf(shot, i); root >= 0 {
				roots = append(roots, root)
			}
		}
	}
	return roots
}

// isChooser reports whether the window chooses a file, color or font, or prints. Only a print
// dialog has a list of printers, a number of copies and a choice of pages.
func isChooser(window []desktop.Element) bool {
	has := func(role desktop.Role) bool {
		return slices.ContainsFunc(window, func(e desktop.Element) bool { return e.Role == role })
	}
	return has(desktop.Grid) && has(desktop.Spinbutton) && has(desktop.Radio) || slices.ContainsFunc(window, func(e desktop.Element) bool {
		return slices.Contains([]string{desktop.FileChooser, desktop.ColorChooser, desktop.FontChooser}, e.Identifier)
	})
}

// isPrompt reports whether the identifier belongs to a part of a browser's own prompt. Chromium's
// classes and Firefox's ids are the same in every language.
func isPrompt(identifier string) bool {
	return identifier == "notification-popup" || slices.ContainsFunc([]string{
		"PermissionPrompt", "EmbeddedPermissionPrompt", "DesktopMediaPicker", "ShareThisTab", "ExternalProtocolDialog", "ExtensionInstall",
		"DeviceChooser", "FileSystemAccess", "PageInfo", "PasswordSave", "SaveUpdate", "ManagePasswords", "SaveCard", "AuthenticatorRequest", "CertificateSelector", "LoginView",
	}, func(class string) bool { return strings.HasPrefix(identifier, class) })
}

// promptOf returns the dialog that contains the prompt part i, or -1 if a page shows it.
func promptOf(shot *desktop.Snapshot, i int) int {
	root := -1
	for at := i; at >= 0; at = shot.Elements[at].Parent {
		switch shot.Elements[at].Role {
		case desktop.Document:
			return -1
		case desktop.Alert, desktop.AlertDialog, desktop.Dialog:
			if root < 0 {
				root = at
			}
		}
	}
	if root < 0 {
		return i
	}
	return root
}
