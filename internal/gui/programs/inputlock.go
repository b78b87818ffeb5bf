package programs

import (
	"context"

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
