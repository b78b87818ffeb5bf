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

// Limits for the parts of a question, in bytes.
const (
	maxShown          = 1500 // a call's arguments; longer ones are refused
	maxPath           = 120  // a path, an ID or a host
	maxName           = 40   // a name in the title
	maxImplementation = 1600 // a tool's implementation: a workflow lists its calls
	maxElement        = 240  // the target element
	maxDescription    = 100  // a tool's description, beside the question
	maxHost           = 253  // the longest valid host name (RFC 1035)
)

// question returns the question for the person: the caller, the action, the app or site,
// and the arguments. Text from the descriptor or the caller is cleaned, quoted, and put on
// lines marked as quoted. question returns an error if the text would not be complete.
func (c *Consent) question(r *aai.Request, old *Grant, now time.Time) (aai.Question, error) {
	w := c.words()
	text := w.callerLines(r.Call.Caller)
	if !r.App.OperatesOthers() && r.Effect() != aai.Destroys && !r.Assessment().EffectInherent {
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
	if r.StartsProgram() && r.Call.Target.Process.Launch != nil {
		line := sanitize.EscapeInvisible(r.Call.Target.Process.Launch.CommandLine)
		if len(line) > maxShown {
			return aai.Question{}, cannotBeShown(r, fmt.Sprintf("the command has more than the %d bytes that a person can be asked about", maxShown))
		}
		text.addQuoted(w.pair, w.runs, aai.CleanText(line, maxShown))
	}
	sent, err := w.sentData(r)
	if err != nil {
		return aai.Question{}, err
	}
	text = append(text, sent...)
	with, err := w.args(r)
	if err != nil {
		return aai.Question{}, err
	}
	text = append(text, with...)
	if each := r.Call.RepeatOver; each != "" {
		list, err := visibleJSON(each)
		if err != nil || len(list) > maxShown {
			return aai.Question{}, cannotBeShown(r, fmt.Sprintf("the list of its repetitions has more than the %d bytes that a person can be asked about", maxShown))
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

// callerLines returns the first lines of every question, which describe the caller.
func (w words) callerLines(c aai.Caller) lines {
	var text lines
	text.addOwn(w.who, w.asker(c))
	if c.Name != c.Identity || c.Principal != "" {
		text.addQuoted(w.calledItself, quoteTruncated(c.Name, maxName))
	}
	return text
}

// destructiveReason returns the reason why an action on a window counts as irreversible.
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

// lines are the lines of a question's text.
type lines []string

// addOwn adds a line of the gateway's own text.
func (l *lines) addOwn(format string, values ...any) {
	*l = append(*l, fmt.Sprintf(format, values...))
}

// addQuoted adds a line with quoted text of an app or a caller.
func (l *lines) addQuoted(format string, values ...any) {
	*l = append(*l, aai.QuoteMark+fmt.Sprintf(format, values...))
}

// titleOf returns the title, which asks for the permission in one line.
func (w words) titleOf(r *aai.Request) string {
	asker := w.shortAsker(r.Call.Caller)
	if !r.App.OperatesOthers() {
		return fmt.Sprintf(w.title, asker, quoteTruncated(r.Tool.Name, maxName), quoteTruncated(r.App.Name, maxName))
	}
	return fmt.Sprintf(w.titleWindows, asker, w.window(r, r.Permission()))
}

// targetLines describes the target app or site. It never cuts the registrable domain,
// which identifies the site's owner.
func (w words) targetLines(r *aai.Request) (lines, error) {
	var text lines
	if host, id, web := webHost(r.App); web {
		domain := domainOf(host)
		if len(domain) > maxHost {
			return nil, noHostError(host)
		}
		text.addOwn(w.site, domain)
		if ascii(host) != domain {
			text.addOwn(w.host, truncateMiddle(ascii(host), maxPath))
		}
		others, err := w.externalHosts(r.App.Site.Hosts)
		if err != nil {
			return nil, err
		}
		text = append(text, others...)
		switch {
		case r.App.IsPage():
			text.addOwn(w.in, plainOrQuoted(r.App.ID))
			return text, nil
		case r.Call.Target == r.App:
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
	if r.Call.Target.Process.HostsCaller {
		text.addOwn("%s", w.isHost)
	}
	return text, nil
}

// externalHosts lists the other sites to which an app sends data.
func (w words) externalHosts(hosts []string) (lines, error) {
	var text lines
	var domains []string
	for _, host := range hosts {
		domain := domainOf(host)
		if len(domain) > maxHost {
			return nil, noHostError(host)
		}
		if !slices.Contains(domains, domain) {
			domains = append(domains, domain)
			text.addOwn(w.alsoTo, domain)
		}
	}
	return text, nil
}

// domainOf returns the registrable domain of a host in ASCII, or the host itself if it has
// none. ASCII prevents lookalike letters.
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

// details returns the origin of the app and the implementation of the tool.
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
	if r.App.Site.BaseURL != "" {
		text.addOwn(w.callsGo, plainOrQuoted(r.App.Site.BaseURL))
	}
	for _, host := range r.App.Site.Hosts {
		text.addOwn(w.alsoTo, truncateMiddle(ascii(host), maxPath))
	}
	text.addOwn(w.door, plainOrQuoted(r.Call.Caller.Door))
	text.addQuoted(w.pair, w.tool, quoteTruncated(r.Tool.Name, 64))
	if r.Tool.Description != "" {
		text.addQuoted(w.pair, w.says, quoteTruncated(r.Tool.Description, 300))
	}
	if r.Tool.Implementation.Summary != "" {
		text.addQuoted(w.pair, w.runs, quoteTruncated(r.Tool.Implementation.Summary, maxImplementation))
	}
	return text
}

// choices returns the possible answers, with the refusal first. The second is the default
// offer of dialogs with room for one answer: "always" for a reversible local tool that has
// not changed, and "once" otherwise. "This session" needs a session, and "all" needs
// permissions that may be asked through the same channels. Choices that cannot be stored
// are left out.
func (c *Consent) choices(r *aai.Request, changed bool) []aai.Choice {
	w := c.words()
	deny, once := aai.Choice{ID: choiceDeny, Label: w.deny}, aai.Choice{ID: choiceOnce, Label: w.once}
	if c.alwaysAsks(r) || c.allowsOnlyOnce(r) || hasExtraArgs(r) {
		return []aai.Choice{deny, once}
	}
	kept := c.store.CheckWritable() == nil
	known := r.Call.Caller.Identity != "" && kept // a permanent grant needs a known caller
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
		offered = append(offered, always) // a longer-lasting choice comes later in the list
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

// sameChannels reports whether each of the permissions may be asked through all channels
// of the requested one: an answer from a client must not cover permissions that a client
// may not ask for.
func (c *Consent) sameChannels(r *aai.Request, all []string) bool {
	return c.channels(r, r.Permission())[0] != aai.Client || !slices.ContainsFunc(all, func(permission string) bool {
		return !slices.Contains(c.channels(r, permission), aai.Client)
	})
}

// binding returns the digest of the exact request to which an answer is bound.
func binding(r *aai.Request) [sha256.Size]byte {
	var hit aai.TargetElement
	if r.Destructive {
		hit = r.Element // the person confirmed this element
	}
	b, err := json.Marshal([]any{r.Call.Caller, r.App.ID, r.Call.Target.ID, r.Digest(), r.Tool.Name, r.Call.Args, r.Call.RepeatOver, r.Permission(), hit})
	if err != nil {
		// Arguments come from JSON, so Marshal cannot fail. If it does, no answer matches.
		b = []byte(rand.Text())
	}
	return sha256.Sum256(b)
}

const (
	// maxMergedCalls limits the calls of one question: those of a workflow with all its steps. A dialog shows fewer at once.
	maxMergedCalls = 256
	// sealMark separates the seals of a question about several calls; no seal contains it.
	sealMark = "."
)

// MergeQuestions implements aai.QuestionMerger. It merges the questions about one caller's
// calls into one that shows each of them completely, and a place or detail that is common to all
// once; the answer applies to all. It offers the choices common to all, except all tools of an app and a refusal for good: these
// would decide about more than the calls. It returns false if it cannot merge the questions.
func (c *Consent) MergeQuestions(asked []aai.PendingQuestion) (aai.Question, bool) {
	caller, channels := asked[0].Request.Call.Caller, commonChannels(asked)
	id := asked[0].Question.ID
	if id != questionID && id != secretQuestionID || len(asked) > maxMergedCalls || len(channels) == 0 {
		return aai.Question{}, false
	}
	w := c.words()
	head := w.callerLines(caller)
	place, details, each := w.commonTarget(asked), commonDetails(asked), lines(nil)
	text, seals := append(slices.Clone(head), place...), make([]string, len(asked))
	for i, a := range asked {
		if a.Request.Call.Caller != caller {
			return aai.Question{}, false
		}
		own := strings.TrimPrefix(a.Question.Text, strings.Join(head, "\n")+"\n")
		if len(place) > 0 {
			own = strings.Replace(own, "\n"+strings.Join(place, "\n"), "", 1)
		}
		own = strings.Replace(own, "\n"+w.with+"\n", "\n", 1)
		text.addOwn(w.eachOf+" %s", i+1, len(asked), own)
		if of := lines(strings.Split(a.Question.Details, "\n")).except(details); len(of) > 0 {
			each = append(append(each, fmt.Sprintf(w.eachOf, i+1, len(asked))), of...)
		}
		seals[i] = a.Question.Seal
	}
	q := aai.Question{ID: id, Channels: channels, Seal: strings.Join(seals, sealMark)}
	var title lines
	if id == secretQuestionID {
		title.addOwn(w.titleFills, w.shortAsker(caller), len(asked))
	} else {
		title.addOwn(w.titleAll, w.shortAsker(caller), len(asked))
	}
	q.Title, q.Text, q.Details = title[0], strings.Join(text, "\n"), strings.Join(append(details, each...), "\n")
	for _, choice := range []aai.Choice{{ID: choiceDeny, Label: w.deny}, {ID: choiceOnce, Label: w.once}, {ID: choiceSession, Label: w.session}, {ID: choiceAlways, Label: w.always}} {
		if !slices.ContainsFunc(asked, func(a aai.PendingQuestion) bool { return !offers(a.Question, choice.ID) }) {
			q.Choices = append(q.Choices, choice)
		}
	}
	return q, true
}

// commonTarget returns the lines about the target if all questions have the same. They begin with the gateway's own line, which
// no quoted text equals.
func (w words) commonTarget(asked []aai.PendingQuestion) (common lines) {
	for i, a := range asked {
		place, err := w.targetLines(a.Request)
		if err != nil || i > 0 && !slices.Equal(place, common) || !strings.Contains(a.Question.Text, "\n"+strings.Join(place, "\n")) {
			return nil
		}
		common = place
	}
	return common
}

// commonDetails returns the lines that the details of all questions have.
func commonDetails(asked []aai.PendingQuestion) lines {
	common := lines(strings.Split(asked[0].Question.Details, "\n"))
	for _, a := range asked[1:] {
		common = common.except(common.except(strings.Split(a.Question.Details, "\n")))
	}
	return common
}

// except returns the lines that others does not have.
func (l lines) except(others lines) lines {
	return slices.DeleteFunc(slices.Clone(l), func(line string) bool { return slices.Contains(others, line) })
}

func offers(q aai.Question, id string) bool {
	return slices.ContainsFunc(q.Choices, func(c aai.Choice) bool { return c.ID == id })
}

// commonChannels returns the channels that all questions permit. The order is that of a
// question that does not prefer the client, if there is one.
func commonChannels(asked []aai.PendingQuestion) []aai.Channel {
	order := asked[0].Question.Channels
	for _, a := range asked {
		if len(a.Question.Channels) > 0 && a.Question.Channels[0] != aai.Client {
			order = a.Question.Channels
		}
	}
	return slices.DeleteFunc(slices.Clone(order), func(ch aai.Channel) bool {
		return slices.ContainsFunc(asked, func(a aai.PendingQuestion) bool { return !a.Question.AllowsChannel(ch) })
	})
}
