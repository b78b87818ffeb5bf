//go:build !linux

package session

import "context"

// sources are none: the own environment is all there is.
type sources struct{}

func (r *Room) lookForBus() *find    { return &find{values: r.own(busName)} }
func (r *Room) lookForScreen() *find { return &find{values: r.own(screenNames()...)} }
func (r *Room) lookForFolder() *find { return &find{values: r.own(folderName)} }
func (r *Room) lookForWords() *find  { return &find{values: r.own(wordsNames()...)} }

func (r *Room) tellLogins(*Report) {}

// Locked reports whether somebody says that the person's screen is locked: nobody does.
func (r *Room) Locked(context.Context) bool { return false }
