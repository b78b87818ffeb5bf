//go:build !linux

package session

import "context"

// sources is empty: only the own environment counts.
type sources struct{}

func (r *Detector) lookForBus() *lookup    { return &lookup{values: r.ownValues(busName)} }
func (r *Detector) lookForScreen() *lookup { return &lookup{values: r.ownValues(screenNames()...)} }
func (r *Detector) lookForFolder() *lookup { return &lookup{values: r.ownValues(folderName)} }
func (r *Detector) lookForLocale() *lookup { return &lookup{values: r.ownValues(localeNames()...)} }

func (r *Detector) reportLogins(*Report) {}

// Locked reports whether the person's screen is locked. It is always false here.
func (r *Detector) Locked(context.Context) bool { return false }
