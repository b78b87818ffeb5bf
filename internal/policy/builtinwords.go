package policy

import (
	"fmt"

	"github.com/gybob/aai-gateway"
)

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

			"settings_set":                  {"更改设置 %s", "key"},
			"import_openapi_save":           {"保存由 %s 生成的应用", "source"},
			"generate_save":                 {"保存由程序 %s 生成的描述文件", "app"},
			"generate_probe":                {"试用程序 %s 的一个操作，仅一次", "app"},
			"generate_save" + startingMark:  {"启动程序 %s（若未运行），并保存由它生成的描述文件", "app"},
			"generate_probe" + startingMark: {"启动程序 %s（若未运行），并试用它的一个操作，仅一次", "app"},
			"import_undo_save":              {"撤销上一次导入", ""},
			"import_servers_save":           {"将 %s 的 MCP 服务器作为应用保存", "client"},
		}
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

		"settings_set":                  {"change the setting %s", "key"},
		"import_openapi_save":           {"save the app generated from %s", "source"},
		"generate_save":                 {"save the descriptor generated from the program %s", "app"},
		"generate_probe":                {"try a tool of the program %s, once", "app"},
		"generate_save" + startingMark:  {"start the program %s if it does not run, and save the descriptor generated from it", "app"},
		"generate_probe" + startingMark: {"start the program %s if it does not run, and try a tool of it, once", "app"},
		"import_undo_save":              {"undo the last import", ""},
		"import_servers_save":           {"save the MCP servers of %s as apps", "client"},
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
