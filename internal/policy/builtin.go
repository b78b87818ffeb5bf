package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// BuiltinGate is the gate for calls to the gateway's own app. Every door may call the reading tools in
// AgentTools; only the doors in PersonDoors may call the other reading tools. A tool that changes
// something needs reauthentication, even at a person's door, because a program may type commands too.
// Exempt are requests at a person's door for which IsNarrowing holds, and tools that only make calls.
type BuiltinGate struct {
	cfg   BuiltinConfig
	seals *sealer
	now   func() time.Time
}

// BuiltinConfig configures a BuiltinGate.
type BuiltinConfig struct {
	// AgentTools names the tools of the app "aai" that every door may use.
	AgentTools []string
	// NeedsConsent reports whether an agent's request for a reading tool in AgentTools
	// needs a person's consent; the consent gate then asks. Nil means never.
	NeedsConsent func(*aai.Request) bool
	// PersonDoors names the doors that a person uses directly.
	PersonDoors []string
	// IsNarrowing reports whether a request that changes something extends no permission.
	// Such a request needs no reauthentication at a personal door. Nil means never.
	IsNarrowing func(*aai.Request) bool
	// PassphraseTool names the tool that sets the first passphrase. While no method of
	// reauthentication exists, the question for it is shown at a terminal.
	PassphraseTool string
	// FirstReauthBlocked returns why the first passphrase must not be set at a terminal:
	// the person may have a screen that the gateway cannot reach, or, as an *aai.Error,
	// the passphrase cannot be stored. A nil function never blocks.
	FirstReauthBlocked func(context.Context) error
	// Authenticator reauthenticates the person. Nil denies every change.
	Authenticator Authenticator
	// Language is as in ConsentConfig.
	Language func() string
}

// NewBuiltinGate returns a gate with the configuration. The zero BuiltinConfig admits no door.
func NewBuiltinGate(cfg BuiltinConfig) *BuiltinGate { return &BuiltinGate{cfg, newSealer(), time.Now} }

// reauthQuestionID identifies the gate's question among the questions of a call.
const reauthQuestionID = "proof"

// ReauthChannel returns the channel by which a person confirmed the call, or "" if none.
func ReauthChannel(call *aai.Call) aai.Channel { return call.Answers[reauthQuestionID].Channel }

// The IDs of the choices in the gate's question.
const (
	choiceNo  = "no"
	choiceYes = "yes"
)

// Check admits calls to other apps, and refuses reading tools that the caller's door may not
// use. It asks for reauthentication if a call to the gateway's own app needs that.
func (o *BuiltinGate) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.App.ID != aai.BuiltinApp {
		return nil, nil
	}
	personal := slices.Contains(o.cfg.PersonDoors, r.Call.Caller.Door)
	switch reads := r.Tool.Effect == aai.Reads; {
	case reads && slices.Contains(o.cfg.AgentTools, r.Tool.Name) && o.cfg.NeedsConsent != nil && o.cfg.NeedsConsent(r):
		return nil, nil // the consent gate asks
	case (reads || onlyMakesCalls(r.App, r.Tool)) && (personal || slices.Contains(o.cfg.AgentTools, r.Tool.Name)):
		r.Consent = "own"
		return nil, nil
	case reads:
		e := aai.Errorf(aai.PermissionDenied, "%s is for the person at this computer, not for %s", r.Tool.Name, r.Call.Caller)
		e.Hint = "Ask the person to run aai-gateway at a terminal; its help lists the commands."
		return nil, e
	case personal && o.cfg.IsNarrowing != nil && o.cfg.IsNarrowing(r):
		r.Consent = "own, it widens nothing"
		return nil, nil
	}
	way, err := o.method(ctx, r, personal)
	if err != nil {
		return nil, err
	}
	if answer, ok := r.Call.Answers[reauthQuestionID]; ok {
		return nil, o.judge(ctx, r, answer, way)
	}
	q, err := o.question(r, way)
	if err != nil {
		return nil, err
	}
	return []aai.Question{q}, nil
}

// onlyMakesCalls reports whether the tool is the gateway's own and only makes further
// calls, each of which passes every gate.
func onlyMakesCalls(app *aai.App, tool *aai.Tool) bool {
	return tool.Assessment(nil).OnlyMakesCalls && (app.ID == aai.BuiltinApp || app.ID == aai.DesktopApp)
}

// method returns the channel for reauthentication, or an error if there is none.
func (o *BuiltinGate) method(ctx context.Context, r *aai.Request, personal bool) (aai.Channel, error) {
	if o.cfg.Authenticator == nil {
		return "", reauthUnavailable(r, nil)
	}
	way := o.cfg.Authenticator.Method(ctx)
	switch {
	case way != "":
		return way, nil
	case !personal:
		return "", reauthUnavailable(r, nil)
	}
	var why error
	if o.cfg.FirstReauthBlocked != nil {
		why = o.cfg.FirstReauthBlocked(ctx)
	}
	switch {
	case r.Tool.Name != o.cfg.PassphraseTool:
		return "", reauthUnavailable(r, why)
	case why != nil:
		return "", firstReauthBlocked(why)
	}
	return aai.Terminal, nil
}

// firstReauthBlocked returns the error for a first passphrase that must not be set here or
// cannot be stored.
func firstReauthBlocked(why error) *aai.Error {
	if e, known := errors.AsType[*aai.Error](why); known {
		return e
	}
	e := aai.Errorf(aai.PermissionDenied, "a first passphrase cannot be set here: %s", why)
	e.Hint = "Set it where you are asked in a window, or at a terminal of the computer itself. A container that shares the folder " +
		"in which the gateway keeps its data has it then; one without a user namespace of its own can set it, or have " + RootPolicyPath + "."
	return e
}

// reauthUnavailable returns the error if no method of reauthentication exists. unset is
// the reason why no passphrase can be set here, if any.
func reauthUnavailable(r *aai.Request, unset error) *aai.Error {
	e := aai.Errorf(aai.PermissionDenied, "%s changes the gateway itself, and there is neither a screen nor a passphrase to confirm it with", r.Tool.Name)
	e.Hint = "Set a passphrase at a terminal: aai-gateway consent passphrase."
	if unset != nil {
		why := firstReauthBlocked(unset)
		e.Message += "; " + why.Message
		e.Hint = why.Hint
	}
	e.Hint += " For unattended runs root writes the permissions into " + RootPolicyPath + "."
	return e
}

// RootPolicyPath is the file in which root sets permissions for all users.
const RootPolicyPath = "/etc/aai-gateway/policy.json"

// RootPolicyChannel marks permissions from RootPolicyPath in the journal; no question was shown.
const RootPolicyChannel aai.Channel = "policy"

// judge checks the answer and reauthenticates.
func (o *BuiltinGate) judge(ctx context.Context, r *aai.Request, a aai.Answer, way aai.Channel) error {
	err := o.seals.open(a.Seal, binding(r), o.now())
	if err == nil && a.Channel != way {
		err = errChannel
	}
	if err != nil {
		return foreignAnswerError(err)
	}
	if a.Choice != choiceYes {
		e := aai.Errorf(aai.PermissionDenied, "the person at this computer did not confirm %s; nothing was changed", r.Tool.Name)
		e.Hint = "Do not try again unless the person asks for it."
		return e
	}
	if way == aai.Passphrase {
		if err := o.cfg.Authenticator.CheckPassphrase(ctx, a.Secret); err != nil {
			return err
		}
	}
	r.Consent = fmt.Sprintf("confirmed (%s)", way)
	return nil
}

// maxArguments is the limit for the shown arguments, in bytes. They must fit into one page
// of the smallest dialog, because the person must see them completely.
const maxArguments = 500

// question returns the question whether the person wants the change, with all arguments.
func (o *BuiltinGate) question(r *aai.Request, way aai.Channel) (aai.Question, error) {
	shown, size := argumentLines(r)
	if size > maxArguments {
		e := aai.Errorf(aai.InvalidParams, "the arguments of %s have %d bytes; expected at most %d, the most that a question can show", r.Tool.Name, size, maxArguments)
		e.Hint = "Do it in several steps, or have root write it into " + RootPolicyPath + "."
		return aai.Question{}, e
	}
	language := ""
	if o.cfg.Language != nil {
		language = o.cfg.Language()
	}
	w := wordsIn(language)
	text := w.callerLines(r.Call.Caller)
	text.addOwn(w.door, plainOrQuoted(r.Call.Caller.Door))
	if len(shown) == 0 {
		text.addOwn("%s", w.noParams)
	} else {
		text.addOwn("%s", w.with)
	}
	text = append(text, shown...)
	text.addOwn("%s", w.notYou)
	return aai.Question{
		ID: reauthQuestionID, Channels: []aai.Channel{way}, Title: fmt.Sprintf(w.wanted, describeBuiltinAction(r, language, true)),
		PublicTitle: fmt.Sprintf(w.wanted, describeBuiltinAction(r, language, false)),
		Text:        strings.Join(text, "\n"),
		Choices:     []aai.Choice{{ID: choiceNo, Label: w.no}, {ID: choiceYes, Label: w.yes}},
		Seal:        o.seals.seal(binding(r), o.now()),
	}, nil
}

// argumentLines returns the arguments, one per line, and their size in bytes.
func argumentLines(r *aai.Request) (text lines, size int) {
	shown := withoutDefaults(r.Tool, r.RedactedArgs())
	add := func(name string, value any) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // people read it
		if err := e.Encode(value); err != nil {
			b.WriteString("?")
		}
		line := aai.QuoteMark + sanitize.EscapeInvisible(name+": "+strings.TrimSpace(b.String()))
		text, size = append(text, line), size+len(line)+1
	}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		list, _ := shown[name].([]any)
		if len(list) == 0 {
			add(name, shown[name])
		}
		for i, item := range list {
			object, isObject := item.(map[string]any)
			if !isObject {
				add(fmt.Sprintf("%s %d", name, i+1), item)
			}
			for _, member := range slices.Sorted(maps.Keys(object)) {
				add(fmt.Sprintf("%s %d, %s", name, i+1, member), object[member])
			}
		}
	}
	return text, size
}

// A builtinAction describes the action of a builtin tool in plain words. A %s in words
// stands for an argument.
type builtinAction struct {
	words string
	arg   string // the argument that replaces %s; "": none
}

// startingMark marks the words for a tool that starts a program because of its argument "start".
const startingMark = ", starting"

// builtinActions returns the actions of all builtin tools that change something, by name.
func builtinActions(language string) map[string]builtinAction {
	if language == "zh" {
		return chineseBuiltinActions()
	}
	return map[string]builtinAction{
		"consent_grant":      {"let a caller use tools of %s without asking again", "app"},
		"consent_revoke":     {"forget the permissions and refusals of callers", ""},
		"consent_takeover":   {"activate permissions that are not in effect yet", ""},
		"consent_drop":       {"forget the decisions for names alone", ""},
		"consent_confirm":    {"activate settings that let callers do more", ""},
		"consent_passphrase": {"set the passphrase that proves your identity", ""},
		"mode_set":           {"switch the gateway to the mode %s", "mode"},
		"discover_name":      {"give the web site %s a name", "url"},
		"auth_login":         {"log in to %s", "app"},
		"auth_logout":        {"log out of %s", "app"},
		"audit_export":       {"write the record of calls into a file", ""},
		"stop":               {"stop calls", ""},
		"start":              {"let the calls that you stopped run again", ""},
		"history_forget":     {"delete the kept results of calls (the calls stay on record)", ""},

		"browser_start":                 {"start a browser for agents, with a profile of its own, and open %s in it", "url"},
		"browser_connect":               {"let agents use the tools of the pages open in the browser %s, and read and operate the pages in its windows by DevTools too", "browser"},
		"browser_disconnect":            {"take the browser %s away from agents", "browser"},
		"secret_set":                    {"set the secret %s, which agents can fill in without seeing it", "name"},
		"secret_remove":                 {"remove the secret %s", "name"},
		"workflow_rename":               {"rename steps and parameters of %s", "name"},
		"recording_delete":              {"delete the recording %s with its pictures", "name"},
		"pin":                           {"show agents the tool %s, described in its app's words, in every conversation", "tool"},
		"unpin":                         {"take the tool %s out of the list of agents", "tool"},
		"settings_set":                  {"change the setting %s", "key"},
		"import_openapi_save":           {"save the app generated from %s", "source"},
		"generate_save":                 {"save the descriptor generated from the program %s", "app"},
		"generate_probe":                {"try a tool of the program %s, once", "app"},
		"generate_save" + startingMark:  {"start the program %s if it does not run, and save the descriptor generated from it", "app"},
		"generate_probe" + startingMark: {"start the program %s if it does not run, and try a tool of it, once", "app"},
		"import_undo_save":              {"undo the last import", ""},
		"import_servers_save":           {"save the MCP servers of %s as apps", "client"},
		"session_take":                  {"take over the isolated session %s", "id"},
		"session_give":                  {"give the isolated session %s back to its agent", "id"},
		"session_input":                 {"make input in the isolated session %s", "id"},
	}
}

func chineseBuiltinActions() map[string]builtinAction {
	return map[string]builtinAction{
		"consent_grant":      {"让调用者不再询问即可使用 %s 的操作", "app"},
		"consent_revoke":     {"清除对调用者的授权和拒绝", ""},
		"consent_takeover":   {"让尚未生效的授权生效", ""},
		"consent_drop":       {"清除仅凭名称作出的决定", ""},
		"consent_confirm":    {"让扩大调用者权限的设置生效", ""},
		"consent_passphrase": {"设置证明是您本人的口令", ""},
		"mode_set":           {"将网关切换到 %s 模式", "mode"},
		"discover_name":      {"为网站 %s 命名", "url"},
		"auth_login":         {"登录 %s", "app"},
		"auth_logout":        {"退出 %s", "app"},
		"audit_export":       {"将调用记录写入文件", ""},
		"stop":               {"停止正在运行的调用", ""},
		"start":              {"让您已停止的调用重新运行", ""},
		"history_forget":     {"删除所保存的调用应答（记录保留）", ""},

		"browser_start":                 {"启动一个供智能体使用、带有独立配置文件夹的浏览器，并打开 %s", "url"},
		"browser_connect":               {"让智能体使用浏览器 %s 中已打开页面的操作，并让智能体查看和操作该浏览器窗口的调用也通过 DevTools 进行", "browser"},
		"browser_disconnect":            {"不再让智能体使用浏览器 %s", "browser"},
		"secret_set":                    {"设置机密 %s，供智能体填入而不可见", "name"},
		"secret_remove":                 {"删除机密 %s", "name"},
		"workflow_rename":               {"重命名 %s 的步骤和参数", "name"},
		"recording_delete":              {"删除录制 %s 及其图片", "name"},
		"pin":                           {"在每次对话中直接向智能体列出操作 %s（说明文字出自该应用）", "tool"},
		"unpin":                         {"不再直接向智能体列出操作 %s", "tool"},
		"settings_set":                  {"更改设置 %s", "key"},
		"import_openapi_save":           {"保存由 %s 生成的应用", "source"},
		"generate_save":                 {"保存由程序 %s 生成的描述文件", "app"},
		"generate_probe":                {"试用程序 %s 的一个操作，仅一次", "app"},
		"generate_save" + startingMark:  {"启动程序 %s（若未运行），并保存由它生成的描述文件", "app"},
		"generate_probe" + startingMark: {"启动程序 %s（若未运行），并试用它的一个操作，仅一次", "app"},
		"import_undo_save":              {"撤销上一次导入", ""},
		"import_servers_save":           {"将 %s 的 MCP 服务器作为应用保存", "client"},
		"session_take":                  {"接管隔离会话 %s", "id"},
		"session_give":                  {"将隔离会话 %s 交还给智能体", "id"},
		"session_input":                 {"在隔离会话 %s 中输入", "id"},
	}
}

// describeBuiltinAction returns the words for the request's change to the gateway. Without values an
// ellipsis replaces the argument.
func describeBuiltinAction(r *aai.Request, language string, withValues bool) string {
	name := r.Tool.Name
	if starts, _ := r.Call.Args["start"].(bool); starts {
		name += startingMark
	}
	deed, known := builtinActions(language)[name]
	if !known {
		return aai.CleanLabel(r.Tool.Description, maxPath)
	}
	if deed.arg == "" {
		return deed.words
	}
	if !withValues {
		return fmt.Sprintf(deed.words, "…")
	}
	value, _ := r.Call.Args[deed.arg].(string)
	return fmt.Sprintf(deed.words, quoteTruncated(value, maxName))
}
