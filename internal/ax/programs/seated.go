package programs

import (
	"context"

	"aai/internal/desktop"
	"aai/internal/seat"
)

// Seated is the backend on which nothing is begun that may move the person's focus while
// a question is open, and no element of another program's question for the person is acted on.
// Input waits for the seat by itself.
func Seated(b desktop.Backend, s *seat.Seat) desktop.Backend {
	if b.Actor != nil {
		b.Actor = carefulActor{b.Actor, b.Tree}
	}
	if s == nil {
		return b
	}
	if b.Actor != nil {
		b.Actor = seatedActor{b.Actor, s}
	}
	if b.Programs != nil {
		b.Programs = seatedPrograms{b.Programs, s}
	}
	return b
}

type carefulActor struct {
	desktop.Actor
	tree desktop.Tree
}

// Perform implements desktop.Actor.
func (a carefulActor) Perform(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	if act.Verb != desktop.Retell {
		if err := ForPerson(ctx, a.tree, app, ReachesElement(id)); err != nil {
			return err
		}
	}
	return a.Actor.Perform(ctx, app, id, act)
}

type seatedActor struct {
	desktop.Actor
	seat *seat.Seat
}

// Perform implements desktop.Actor. To press something may open a window, which gets
// the keyboard; text and numbers are set where they are.
func (a seatedActor) Perform(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	switch act.Verb {
	case desktop.SetText, desktop.InsertText, desktop.SetNumber, desktop.ScrollTo, desktop.Retell:
		return a.Actor.Perform(ctx, app, id, act)
	case desktop.Press, desktop.SelectItem, desktop.TakeFocus:
	}
	done, err := a.seat.Begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return a.Actor.Perform(ctx, app, id, act)
}

type seatedPrograms struct {
	desktop.Programs
	seat *seat.Seat
}

// Start implements desktop.Programs. A program that starts shows a window, a while
// after: a question waits as long as it does for what may hang.
func (p seatedPrograms) Start(ctx context.Context, program desktop.Program, args []string) (int, error) {
	if _, err := p.seat.Begin(ctx); err != nil {
		return 0, err
	}
	return p.Programs.Start(ctx, program, args)
}
