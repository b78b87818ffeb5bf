package policy

import (
	"fmt"

	"aai"
)

// words are the gateway's own words in a question, in one language. What takes an
// argument is for fmt.
type words struct {
	title, titleWindows string

	caller, program, unknown         string
	app, id, target, host, hosts     string
	tool, says, runs, with, noParams string
	effectName, parameters           string
	effect                           map[aai.Effect]string
	quoted                           string
	changed, was, otherProgram, more string

	see, act, destroy, start, run, seeAndAct string
	anyCommand                               string
	whole, windows                           string

	deny, once, session, always, all, allWindows, never string
}

func wordsIn(language string) words {
	if language == "zh" {
		return chinese()
	}
	return english()
}

func english() words {
	return words{
		title: "Allow %s to use %s of %s?", titleWindows: "Allow %s to %s?",
		caller: "Asking", program: "Its program", unknown: "not known to the system",
		app: "App", id: "App id", target: "Acts on", host: "From the web site", hosts: "Sends data to",
		tool: "Tool", says: "Says", runs: "Runs", with: "With", noParams: "no parameters",
		effectName: "Effect", parameters: "Parameters",
		effect: map[aai.Effect]string{
			aai.Reads: "Effect: only reads", aai.Changes: "Effect: changes something that can be changed back",
			aai.Destroys: "Effect: may send, delete or change things for good",
		},
		quoted:  "What they say themselves, unproved:",
		changed: "You allowed this on %s. Since then it has changed:", was: "%s was: %s",
		otherProgram: "You allowed this on %s, but for another program of that name.", more: "in a part that is not shown",
		see: "see %s", act: "click and type in %s", destroy: "click in %s on what may not be undone",
		start: "start %s, with any arguments", run: "type commands into %s", anyCommand: "This lets it run any command as you.", seeAndAct: "see %s, and click and type in them",
		whole: "the whole screen and the clipboard", windows: "the windows of %s",
		deny: "Deny", once: "Allow once", session: "Allow in this session", always: "Always allow",
		all: "Always allow all %d tools", allWindows: "Always allow see and act", never: "Never allow",
	}
}

func chinese() words {
	return words{
		title: "允许 %s 使用 %[3]s 的 %[2]s 吗？", titleWindows: "允许 %s %s吗？",
		caller: "请求者", program: "其程序", unknown: "系统未知",
		app: "应用", id: "应用 ID", target: "作用于", host: "来自网站", hosts: "数据发送到",
		tool: "操作", says: "说明", runs: "执行", with: "参数", noParams: "无参数",
		effectName: "影响", parameters: "参数",
		effect: map[aai.Effect]string{
			aai.Reads: "影响：仅读取", aai.Changes: "影响：更改内容，可以恢复", aai.Destroys: "影响：可能发送、删除或永久更改内容",
		},
		quoted:  "以下为对方自述，未经证实：",
		changed: "您曾于 %s 授权，此后它已更改：", was: "%s 原为：%s",
		otherProgram: "您曾于 %s 授权，但那是同名的另一个程序。", more: "未显示的部分",
		see: "查看%s", act: "在%s中点击和输入", destroy: "在%s中点击可能无法撤销的内容",
		start: "以任意参数启动 %s", run: "在%s中输入命令", anyCommand: "这会让它以您的身份运行任何命令。", seeAndAct: "查看%s并在其中点击和输入",
		whole: "整个屏幕和剪贴板", windows: " %s 的窗口",
		deny: "拒绝", once: "仅授权一次", session: "在本次会话中授权", always: "授权此操作",
		all: "授权所有操作（%d 个）", allWindows: "授权查看和操作", never: "永远拒绝",
	}
}

// window says what a permission for windows allows; "" is to see and to act.
func (w words) window(r *aai.Request, permission string) string {
	name := aai.CleanLabel(r.Target.Name, 60)
	of := fmt.Sprintf(w.windows, name)
	if r.Target == r.App {
		of = w.whole
	}
	switch permission {
	case aai.PermissionSee:
		return fmt.Sprintf(w.see, of)
	case aai.PermissionAct:
		return fmt.Sprintf(w.act, of)
	case aai.PermissionDestroy:
		return fmt.Sprintf(w.destroy, of)
	case aai.PermissionRun:
		return fmt.Sprintf(w.run, of)
	case aai.PermissionStart:
		return fmt.Sprintf(w.start, name)
	}
	return fmt.Sprintf(w.seeAndAct, of)
}
