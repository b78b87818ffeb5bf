package dialog

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// hiddenPatience is the time for the person to type a value, which may have to be copied from another place.
const hiddenPatience = 2 * time.Minute

// A HiddenInput asks the person for a value that the window does not show.
type HiddenInput struct {
	Text   string // the gateway's own words, and lines with values of the call, which begin with aai.QuoteMark
	Prompt string // names the field
}

// errNoHidden reports that no installed program can ask for a hidden value.
var errNoHidden = errors.New("no window can ask for a hidden value here: there is no screen, or neither pinentry, kdialog nor zenity is installed")

// AskHidden asks the person for a value in a window that does not show it, and returns what they typed. It holds the
// input lock meanwhile, so that no gateway types. An *aai.Error is final; any other error means that no window could be
// shown.
func (d *Dialog) AskHidden(ctx context.Context, callerIdentity string, in HiddenInput) (string, error) {
	turn, err := d.scheduler.take(ctx, callerIdentity, "")
	if err != nil {
		return "", err
	}
	defer turn.end()
	ctx, cancel := context.WithTimeout(ctx, hiddenPatience)
	defer cancel()
	disturbed, release, err := d.takeInputLock(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	failure := errNoHidden
	for _, way := range d.findPresenters() {
		if way.hidden == nil {
			continue
		}
		p, err := d.hiddenPage(in, way)
		if err != nil {
			return "", err
		}
		value, entered, err := d.showHidden(ctx, way, p, turn.shows)
		switch {
		case ctx.Err() != nil:
			return "", unansweredError(hiddenPatience)
		case err != nil:
			d.log.Info("a window for a hidden value could not be shown", "by", way.name, "cause", err)
			failure = errors.Join(failure, err)
			continue
		case disturbed():
			return "", uncertainError(errDisturbed)
		case !entered:
			e := aai.Errorf(aai.PermissionDenied, "the person at this computer closed the window without a value; nothing was changed")
			e.Hint = "Do not try again unless the person asks for it."
			return "", e
		}
		return value, nil
	}
	return "", failure
}

// hiddenPage returns the page of the window, which has room for one.
func (d *Dialog) hiddenPage(in HiddenInput, way presenter) (page, error) {
	l := layout{words: d.messages(), presenter: way}
	var text []string
	for line := range strings.SplitSeq(in.Text, "\n") {
		if !way.hasPublicHidden || !strings.HasPrefix(line, aai.QuoteMark) {
			text = append(text, line)
		}
	}
	chunks := l.chunks(strings.Join(text, "\n"))
	if len(chunks) != 1 {
		return page{}, unreadError()
	}
	return page{
		title: l.words.title, text: l.words.hiddenHeading + "\n" + chunks[0], number: aai.CleanLabel(in.Prompt, maxLabel),
		buttons: []string{l.words.cancel}, closing: l.words.closing,
	}, nil
}

// showHidden shows the window, and keeps it in front of others where the desktop would put it into tiles.
func (d *Dialog) showHidden(ctx context.Context, way presenter, p page, shows func(pid int)) (value string, entered bool, err error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	defer shows(0)
	return way.hidden(ctx, p, func(pid int) {
		shows(pid)
		if !way.otherProcess {
			go func() { _ = d.float(watching, pid) }()
		}
	})
}
