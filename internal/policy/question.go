package policy

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Bounds on what a question shows, in bytes.
const (
	maxShown          = 1500 // of a call's arguments; with more nobody is asked
	maxPath           = 120  // of a path, an id or a host
	maxName           = 40   // of a name in the title
	maxImplementation = 1600 // of what stands behind a tool: a workflow names its calls
	maxElement        = 240  // of what a call will hit
	maxDescription    = 100  // of what a tool says of itself, beside the question
	maxHost           = 253  // of a host that can be (RFC 1035)
)

// question words what a person has to decide: who asks, what it would do, in which app
// or site, with which arguments. What the descriptor or the caller says is cleaned, in
// quotation marks and on lines marked as quoted. A question that could not be shown
// whole is an error.
func (c *Consent) question(r *aai.Request, old *Grant, now time.Time) (aai.Question, error) {
	w := c.words()
	text := w.callerLines(r.Call.Caller)
	if !r.App.OperatesOthers() && r.Effect() != aai.Destroys && !r.Tool.EffectInherent {
		text.addOwn(w.doesSaid, w.actionText(r))
	} else {
		text.addOwn(w.does, w.actionText(r))
	}
	if !r.App.OperatesOthers() && r.Tool.Description != "" {
		text.addQuoted(w.by, quoteTruncated(r.Tool.Name, 64), quoteTruncated(r.Tool.Description, maxDescription))
	} else {
		text.addQuoted(w.byTool, quoteTruncated(r.Tool.Name, 64))
	}
	if old != nil {
		text = append(text, w.changedTerms(r, *old)...)
	}
	where, err := w.targetLines(r)
	if err != nil {
		return aai.Question{}, err
	}
	text = append(text, where...)
	if r.App.OperatesOthers() && r.Element.String() != "" {
		text.addQuoted(w.hits, aai.CleanLabel(r.Element.String(), maxElement))
	}
	text = append(text, w.destructiveReason(r)...)
	if r.StartsProgram() && r.Call.Target.Launch != nil {
		line := sanitize.EscapeInvisible(r.Call.Target.Launch.CommandLine)
		if len(line) > maxShown {
			return aai.Question{}, cannotBeShown(r, fmt.Sprintf("the command has more than the %d bytes that a person can be asked about", maxShown))
		}
		text.addQuoted(w.pair, w.runs, aai.CleanText(line, maxShown))
	}
	with, err := w.args(r)
	if err != nil {
		return aai.Question{}, err
	}
	text = append(text, with...)
	if each := r.Call.RepeatOver; each != "" {
		list, err := visibleJSON(each)
		if err != nil || len(list) > maxShown {
			return aai.Question{}, cannotBeShown(r, fmt.Sprintf("the list that it is repeated for has more than the %d bytes that a person can be asked about", maxShown))
		}
		text.addOwn("%s", w.forEach)
		text.addQuoted("%s", list)
	}
	return aai.Question{
		ID:        questionID,
		Channels:  c.channels(r, r.Permission()),
		Title:     w.titleOf(r),
		Text:      strings.Join(text, "\n"),
		Details:   strings.Join(c.details(r), "\n"),
		Choices:   c.choices(r, old != nil),
		AlwaysAsk: c.alwaysAsks(r) || hasExtraArgs(r),
		Seal:      c.seals.seal(binding(r), now),
	}, nil
}

// callerLines is how every question begins.
func (w words) callerLines(c aai.Caller) lines {
	var text lines
	text.addOwn(w.who, w.asker(c))
	if c.Name != c.Identity || c.Principal != "" {
		text.addQuoted(w.calledItself, quoteTruncated(c.Name, maxName))
	}
	return text
}

// destructiveReason says what made an act on a window count as one that may not be undone.
func (w words) destructiveReason(r *aai.Request) lines {
	var text lines
	switch {
	case !r.Destructive || r.Permission() != aai.PermissionDestroy || r.DestructiveReason == "":
	case r.DestructiveReason == r.Element.Key:
		text.addOwn(w.forKey, quoteTruncated(r.DestructiveReason, maxName))
	default:
		text.addOwn(w.forWord, quoteTruncated(r.DestructiveReason, maxName))
	}
	return text
}

// lines are those of a question's text.
type lines []string

// addOwn adds a line in the gateway's own words.
func (l *lines) addOwn(format string, values ...any) {
	*l = append(*l, fmt.Sprintf(format, values...))
}

// addQuoted adds a line with a stranger's words.
func (l *lines) addQuoted(format string, values ...any) {
	*l = append(*l, aai.QuoteMark+fmt.Sprintf(format, values...))
}

// titleOf asks for the permission in one line.
func (w words) titleOf(r *aai.Request) string {
	asker := w.shortAsker(r.Call.Caller)
	if !r.App.OperatesOthers() {
		return fmt.Sprintf(w.title, asker, quoteTruncated(r.Tool.Name, maxName), quoteTruncated(r.App.Name, maxName))
	}
	return fmt.Sprintf(w.titleWindows, asker, w.window(r, r.Permission()))
}

// targetLines says which app or site is touched. The registrable domain says who answers for a
// site; it is never cut.
func (w words) targetLines(r *aai.Request) (lines, error) {
	var text lines
	if host, id, web := strings.Cut(r.App.ID, "/"); web && fromTheWeb(r.App) {
		domain := domainOf(host)
		if len(domain) > maxHost {
			return nil, noHost(host)
		}
		text.addOwn(w.site, domain)
		if ascii(host) != domain {
			text.addOwn(w.host, truncateMiddle(ascii(host), maxPath))
		}
		others, err := w.externalHosts(r.App.Hosts)
		if err != nil {
			return nil, err
		}
		text = append(text, others...)
		if r.Call.Target == r.App {
			text.addQuoted(w.itsApp, quoteTruncated(id, 64), quoteTruncated(r.App.Name, 60))
			return text, nil
		}
	}
	program := plainOrQuoted(r.Call.Target.ID)
	if r.Call.Target.Source != "" && (r.App.OperatesOthers() || r.Call.Target != r.App) {
		program += ", " + plainOrQuoted(r.Call.Target.Source)
	}
	if r.IsWholeScreen() {
		text.addOwn("%s", w.onScreen)
		return text, nil
	}
	text.addOwn(w.in, program)
	text.addQuoted(w.calledItself, quoteTruncated(r.Call.Target.Name, 60))
	if r.Call.Target.HostsCaller {
		text.addOwn("%s", w.isHost)
	}
	return text, nil
}

// externalHosts says to which other sites an app sends data.
func (w words) externalHosts(hosts []string) (lines, error) {
	var text lines
	var domains []string
	for _, host := range hosts {
		domain := domainOf(host)
		if len(domain) > maxHost {
			return nil, noHost(host)
		}
		if !slices.Contains(domains, domain) {
			domains = append(domains, domain)
			text.addOwn(w.alsoTo, domain)
		}
	}
	return text, nil
}

// domainOf is the registrable domain of a host, or the host itself where it has none, in
// letters that cannot look like others.
func domainOf(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if domain := netguard.RegistrableDomain(name); domain != "" {
		return ascii(domain)
	}
	return ascii(host)
}

// details is where all of it comes from, and what would run.
func (c *Consent) details(r *aai.Request) lines {
	w := c.words()
	var text lines
	if c.store.CheckWritable() != nil {
		text.addOwn("%s", w.notKept)
	}
	if r.Call.Target.Source != "" {
		text.addOwn(w.from, plainOrQuoted(r.Call.Target.Source))
	}
	text.addOwn(w.id, plainOrQuoted(r.Call.Target.ID))
	if r.App.BaseURL != "" {
		text.addOwn(w.callsGo, plainOrQuoted(r.App.BaseURL))
	}
	for _, host := range r.App.Hosts {
		text.addOwn(w.alsoTo, truncateMiddle(ascii(host), maxPath))
	}
	text.addOwn(w.door, plainOrQuoted(r.Call.Caller.Door))
	text.addQuoted(w.pair, w.tool, quoteTruncated(r.Tool.Name, 64))
	if r.Tool.Description != "" {
		text.addQuoted(w.pair, w.says, quoteTruncated(r.Tool.Description, 300))
	}
	if r.Tool.Implementation != "" {
		text.addQuoted(w.pair, w.runs, quoteTruncated(r.Tool.Implementation, maxImplementation))
	}
	return text
}

// choices are the answers that the request leaves a person. The refusal comes first, and
// then what windows with room for one answer offer at once: "always" in the common case,
// where something of this computer reads or changes what can be changed back, and is
// what it was; else "once". "This session" is offered where there is one, and "all"
// where all of it may be asked in the same way. What nothing could keep is not offered.
func (c *Consent) choices(r *aai.Request, changed bool) []aai.Choice {
	w := c.words()
	deny, once := aai.Choice{ID: choiceDeny, Label: w.deny}, aai.Choice{ID: choiceOnce, Label: w.once}
	if c.alwaysAsks(r) || c.allowsOnlyOnce(r) || hasExtraArgs(r) {
		return []aai.Choice{deny, once}
	}
	kept := c.store.CheckWritable() == nil
	known := r.Call.Caller.Identity != "" && kept // else nobody knows who would have it for good
	never := aai.Choice{ID: choiceNever, Label: w.never, IsRefusal: true}
	always := aai.Choice{ID: choiceAlways, Label: w.always}
	common := riskOf(r, r.Permission()) < irreversible && !changed && !fromTheWeb(r.App)
	offered := []aai.Choice{deny, once}
	if known && common {
		offered = []aai.Choice{deny, always, once}
	}
	if r.Call.Caller.Session != "" {
		offered = append(offered, aai.Choice{ID: choiceSession, Label: w.session})
	}
	if !kept {
		return offered
	}
	if !known {
		return append(offered, never)
	}
	if !common {
		offered = append(offered, always) // what holds for longer stands further from the finger
	}
	if all := permissions(r); len(all) > 1 && c.sameChannels(r, all) {
		label := w.allWindows
		if !r.App.OperatesOthers() {
			label = fmt.Sprintf(w.all, len(all))
		}
		offered = append(offered, aai.Choice{ID: choiceAll, Label: label})
	}
	return append(offered, never)
}

// sameChannels reports whether all the permissions may be asked for in every way in
// which this one may: a yes by way of a client must not cover what a client may
// not ask.
func (c *Consent) sameChannels(r *aai.Request, all []string) bool {
	return c.channels(r, r.Permission())[0] != aai.Client || !slices.ContainsFunc(all, func(permission string) bool {
		return !slices.Contains(c.channels(r, permission), aai.Client)
	})
}

// binding is what an answer is bound to: who asks for what, exactly.
func binding(r *aai.Request) [sha256.Size]byte {
	var hit aai.TargetElement
	if r.Destructive {
		hit = r.Element // the person said yes to this one
	}
	b, err := json.Marshal([]any{r.Call.Caller, r.App.ID, r.Call.Target.ID, r.Digest(), r.Tool.Name, r.Call.Args, r.Call.RepeatOver, r.Permission(), hit})
	if err != nil {
		// Arguments come from JSON, so this cannot be; if it is, no answer fits.
		b = []byte(rand.Text())
	}
	return sha256.Sum256(b)
}
