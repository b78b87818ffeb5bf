package com

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
)

// HRESULTs that the code decides by.
const (
	eAccessDenied      = 0x80070005
	elevationRequired  = 0x800702E4
	classNotRegistered = 0x80040154
	invalidClassName   = 0x800401F3
	notRunning         = 0x800401E3
	dispException      = 0x80020009
	unknownName        = 0x80020006
	typeMismatch       = 0x80020005
	callRejected       = 0x80010001
	retryLater         = 0x8001010A
	tooBusy            = 0x800706BB
)

// IsBusy reports whether an HRESULT means that the app did not accept the call now. It may be repeated.
func IsBusy(hr uint32) bool { return hr == callRejected || hr == retryLater || hr == tooBusy }

// IsGone reports whether an HRESULT means that the app has ended.
func IsGone(hr uint32) bool { return codeOf(hr, false) == aai.AppNotRunning }

// codeOf maps an HRESULT to a code. created reports that an object was to be created.
func codeOf(hr uint32, created bool) aai.Code {
	switch hr {
	case classNotRegistered, invalidClassName, 0x80040111, 0x800401F5, 0x800401F8, 0x800401F9, 0x8007007E:
		return aai.AppNotFound
	case 0x80070002:
		if created {
			return aai.AppNotFound
		}
	case notRunning, 0x800706BA, 0x800706BE, 0x800706BF, 0x80010108, 0x80010007, 0x80010012, 0x800401FD, 0x80080008:
		return aai.AppNotRunning
	case eAccessDenied, 0x80030005, elevationRequired, 0x80070522, 0x80080017, 0x8000401A, 0x800A0046:
		return aai.PermissionDenied
	case 0x8001011F, 0x80010002, 0x800705B4, callRejected, retryLater, tooBusy:
		return aai.Timeout
	}
	return aai.AutomationFailed
}

// mayHaveRun reports whether an HRESULT leaves open if the app received the call.
func mayHaveRun(hr uint32) bool {
	switch hr {
	case 0x800706BE, 0x80010007, 0x80010105, 0x8001011F, 0x80010002, 0x800705B4:
		return true
	}
	return false
}

// meaning returns the meaning of an HRESULT in words, or "". Windows's own texts depend on its language.
func meaning(hr uint32) string {
	return map[uint32]string{
		classNotRegistered: "no such class is installed", invalidClassName: "no such class is installed",
		0x80080005: "the app did not start", 0x80004002: "it has no automation interface, or its program ended at the start", notRunning: "it does not run",
		0x800706BA: "the app has ended", 0x800706BE: "the app ended during the call", 0x80010108: "the app has ended", 0x80010007: "the app ended during the call",
		eAccessDenied: "access denied", elevationRequired: "it needs administrator rights",
		unknownName: "unknown name", 0x80020003: "no such member", 0x80020004: "an argument is missing", typeMismatch: "wrong type",
		0x80020007: "it takes no named arguments", 0x80020008: "unsupported type", 0x8002000A: "a number is too large", 0x8002000B: "no such index",
		0x8002000E: "wrong number of arguments", 0x8002000F: "an argument is missing", dispException: "the app reports an error",
		0x80004001: "not implemented", 0x80004005: "it failed", 0x80070057: "an argument is invalid",
		callRejected: "the app is busy", retryLater: "the app is busy", tooBusy: "the app is busy",
	}[hr]
}

// failure converts the failed step of a call to an error.
func (p *program) failure(r *Request, f *Failure) *aai.Error {
	place := p.class
	var s Step
	if f.Step < len(r.Steps) {
		s = r.Steps[f.Step]
		place = strings.TrimSpace(fmt.Sprintf("%s: step %d, %s %s", p.class, f.Step+1, s.Action, s.ProgID+s.Member))
	}
	err := p.failureMessage(place, s, f)
	switch {
	case !f.Begun:
		err.Delivery = aai.NotDelivered
	case f.Late && f.HRESULT == 0 || mayHaveRun(f.HRESULT):
		err.Delivery = aai.DeliveryUnknown
	default:
		err.Delivery = aai.Delivered
	}
	return err
}

func (p *program) failureMessage(place string, s Step, f *Failure) *aai.Error {
	hr := f.HRESULT
	if hr == dispException && f.Code != 0 {
		hr = f.Code
	}
	var err *aai.Error
	switch {
	case f.Denied:
		err = aai.Errorf(aai.PermissionDenied, "%s: the class runs programs, but its name does not say so to the person who allowed the tool", place)
		err.Hint = "The descriptor must name the class by its usual ProgID, such as WScript.Shell; the consent then says that it runs programs."
	case f.Late && IsBusy(f.HRESULT):
		err = aai.Errorf(aai.Timeout, "%s: the app was busy until the deadline", place)
		err.Hint = "A dialog may be open in the app, or the person edits something in it. Try again after that."
	case f.Late:
		err = aai.Errorf(aai.Timeout, "%s: the app did not answer by the deadline", place)
		err.Hint = "The app may be busy, or show a dialog. Look at its state before you try again."
	case f.Message != "":
		err = aai.Errorf(aai.AutomationFailed, "%s: %s", place, aai.CleanText(f.Message, 500))
	default:
		err = aai.Errorf(codeOf(hr, s.Action == Create), "%s: %s", place, words(s, f, hr))
		err.Hint = hintFor(err.Code, hr, s)
	}
	return err
}

// words describes the answer of an app.
func words(s Step, f *Failure, hr uint32) string {
	text := fmt.Sprintf("error 0x%08X", hr)
	if f.HRESULT == unknownName {
		return fmt.Sprintf("the object has no %q (%s)", aai.CleanLabel(f.Name, 100), text)
	}
	said := aai.CleanText(f.Description, 500)
	if said == "" {
		said = meaning(hr)
	}
	if said != "" {
		text = said + " (" + text + ")"
	}
	if from := aai.CleanLabel(f.Source, 100); from != "" {
		text = from + " says: " + text
	}
	if n := f.Argument; n > 0 {
		name := fmt.Sprintf("argument %d", n)
		if positional := len(s.Args) - len(s.Names); n > positional && n <= len(s.Args) {
			name = "argument " + aai.CleanLabel(s.Names[n-positional-1], 60)
		}
		text = name + ": " + text
	}
	return text
}

func hintFor(code aai.Code, hr uint32, s Step) string {
	switch {
	case hr == elevationRequired:
		return "The gateway does not run as administrator. The person can start the app as administrator first, or start the agent's client that way."
	case code == aai.PermissionDenied:
		return "Windows or the app does not allow this to the user who runs the gateway. An app that runs as administrator is open only to programs that do so too."
	case code == aai.AppNotFound:
		return "Make sure that the app is installed, as 64-bit or with an out-of-process server, and that the ProgID is right."
	case code == aai.AppNotRunning && s.Running:
		return "The step attaches to the running app. Start the app, then try again."
	case code == aai.AppNotRunning:
		return "Try again: a new call starts the app. Look at its state first, since it may have received the call."
	}
	return ""
}

// contextError reports that a call ended from outside, and its process was killed.
func contextError(ctx context.Context, class string) *aai.Error {
	err := aai.Errorf(aai.AutomationFailed, "the caller cancelled the call")
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = aai.Errorf(aai.Timeout, "%s did not answer by the deadline", class)
		err.Hint = "The app may be busy, or show a dialog. Look at its state before you try again."
	}
	err.Delivery, err.Err = aai.DeliveryUnknown, ctx.Err()
	return err
}

// unreadable reports a reply that has no JSON form.
func unreadable(class string, cause error) *aai.Error {
	err := aai.Errorf(aai.AutomationFailed, "the answer of %s cannot be read: %w", class, cause)
	err.Hint, err.Delivery = "The app has carried out the call.", aai.Delivered
	return err
}

// undelivered marks an error before anything was sent.
func undelivered(err error) *aai.Error {
	e := aai.AsError(err)
	e.Delivery = aai.NotDelivered
	return e
}
