package policy

import (
	"fmt"

	"github.com/gybob/aai-gateway"
)

// words are the gateway's own texts in a question, in one language. Texts with arguments
// are fmt formats.
type words struct {
	title, titleWindows, titleAll, eachOf, forEach string

	who, calledItself, holder, unknown, somebody   string
	does, doesSaid, by, byTool, pair               string
	site, host, alsoTo, itsApp, in, onScreen, hits string
	forWord, forKey                                string // why an action counts as irreversible
	with, noParams                                 string
	sendsFile, sendsResult                         string

	from, id, callsGo, door, notKept string // of the details

	app, program, tool, says, runs, effectName, parameters string // labels before a colon
	effect                                                 map[aai.Effect]string
	changed, was, otherProgram, more                       string

	see, act, destroy, start, run, seeAndAct string // the subject of a permission
	startGiven, startRun                     string // a start with other arguments, or of a program that runs commands
	maySee, mayAct, mayStart, mayDestroy     string // the consequences of a permission
	mayStartGiven                            string
	sendPicture, maySend, goesTo, goesToSelf string // pictures for a model
	record, mayRecord                        string // the person's acts
	anyCommand                               string
	operateHost, mayHost, isHost             string // the program in which the caller runs
	screen, whole, windows                   string

	deny, once, session, always, all, allWindows, never string

	wanted, notYou, no, yes string // of a change to the gateway itself

	titleFill, titleFills, fillsValue, fillsCode, valueUnseen string // of secrets that a call fills
	hiddenField, textField, field, argument                   string // places of secrets
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
		titleAll: "Allow %s all of these %d calls?", eachOf: "Call %d of %d:", forEach: "Repeated for each value of:",
		who: "Asked by: %s", calledItself: "which calls itself %s", holder: "the holder of the token %s",
		unknown: "a program that the system does not know", somebody: "an unknown program",
		does: "It would: %s", doesSaid: "It would, as the app says: %s", by: "with %s, which says: %s", byTool: "with %s", pair: "%s: %s",
		site: "Web site: %s", host: "Its host: %s", alsoTo: "Sends data to: %s", itsApp: "whose app %s calls itself %s",
		in: "In: %s", onScreen: "In: all programs on the screen", hits: "On: %s",
		forWord: "It may not be undone, because of the word %s there", forKey: "It may not be undone, because of the key %s",
		with: "With:", noParams: "With nothing else",
		sendsFile: "Sends the content of the file %s to %s", sendsResult: "Sends the kept result of the call %s to %s",
		from: "The app comes from: %s", id: "The app's id: %s", callsGo: "Calls go to: %s", notKept: "Not permanently: nothing can be saved here (aai-gateway check says why)",
		door: "Asked over: %s",
		app:  "App", program: "Program", tool: "Tool", says: "Says", runs: "Runs", effectName: "Effect", parameters: "Parameters",
		effect: map[aai.Effect]string{
			aai.Reads: "only read", aai.Changes: "make changes that can be undone",
			aai.Destroys: "send, delete or permanently change things",
		},
		changed: "You allowed this on %s. Since then it has changed:", was: "%s was: %s, now: %s",
		otherProgram: "You allowed this on %s, but for another program of that name.", more: "in a part that is not shown",
		see: "see %s", act: "click and type in %s", destroy: "make clicks in %s that may not be undone",
		start: "start %s, with files or addresses that it opens", startGiven: "start %s with other arguments than its own", startRun: "start %s, which runs commands", run: "type commands into %s", seeAndAct: "see %s, and click and type in them",
		maySee: "read all in its windows, and take pictures of them", mayAct: "click on anything and type in its windows",
		mayStart: "start it, and open files and addresses in it", mayStartGiven: "make it do everything in this command", mayDestroy: "click on things that may delete, send or pay",
		anyCommand:  "run any command as you",
		sendPicture: "let the model at %s see %s", maySend: "send pictures and texts of its windows to a model, which describes them to it",
		record: "record what you do in %s, until it is stopped", mayRecord: "record each click and each text that you enter there as steps, with pictures of the window, but no passwords, until it is stopped",
		goesTo: "A picture leaves this computer, to: %s", goesToSelf: "A picture goes to a model on this computer, at: %s",
		operateHost: "see and operate %s, where it runs itself", mayHost: "read, click and type in the program that it runs in, and so also end itself",
		isHost: "It runs in this program: closing this ends it.",
		screen: "running programs, and the whole screen", whole: "the whole screen and the clipboard", windows: "the windows of %s",
		deny: "Deny", once: "Allow once", session: "Allow this session", always: "Always allow",
		all: "Always all %d tools", allWindows: "Always see and act", never: "Never allow",
		wanted: "Do you want to %s?", notYou: "It changes the gateway itself. If you did not start it, choose No.", no: "No", yes: "Yes",
		titleFill: "Allow %s to use the secret %s?", titleFills: "Allow %s to use %d of your secrets?",
		fillsValue: "It would: fill the secret %s into %s of %s", fillsCode: "It would: fill a one-time code of the secret %s into %s of %s",
		valueUnseen: "It does not see the secret. The gateway fills it there and nowhere else.",
		hiddenField: "a password field", textField: "a text field", field: "the field %s", argument: "the argument %s",
	}
}

func chinese() words {
	return words{
		title: "允许 %s 使用 %[3]s 的 %[2]s 吗？", titleWindows: "允许 %s %s吗？",
		titleAll: "允许 %s 的以下全部 %d 个调用吗？", eachOf: "第 %d 个调用，共 %d 个：", forEach: "不止一次，而是对以下列表的每个值各调用一次：",
		who: "请求者：%s", calledItself: "自称 %s", holder: "持有令牌 %s 者",
		unknown: "系统未知的程序", somebody: "未知程序",
		does: "它将：%s", doesSaid: "据应用自述，它将：%s", by: "通过 %s，其说明为：%s", byTool: "通过 %s", pair: "%s：%s",
		site: "网站：%s", host: "其主机：%s", alsoTo: "数据发送到：%s", itsApp: "其应用 %s 自称 %s",
		in: "目标：%s", onScreen: "目标：屏幕上的所有程序", hits: "对象：%s",
		forWord: "因其中有 %s 一词，视为可能无法撤销", forKey: "因按键 %s，视为可能无法撤销",
		with: "参数：", noParams: "无参数",
		sendsFile: "将文件 %s 的内容发送到 %s", sendsResult: "将调用 %s 的已保存结果发送到 %s",
		from: "来源：%s", id: "应用 ID：%s", callsGo: "调用发往：%s", notKept: "不能永久允许：此处无法保存（运行 aai-gateway check 查看原因）",
		door: "请求途径：%s",
		app:  "应用", program: "程序", tool: "操作", says: "说明", runs: "执行", effectName: "影响", parameters: "参数",
		effect: map[aai.Effect]string{
			aai.Reads: "仅读取", aai.Changes: "更改内容，可以恢复", aai.Destroys: "发送、删除或永久更改内容",
		},
		changed: "您曾于 %s 授权，此后它已更改：", was: "%s 原为：%s，现为：%s",
		otherProgram: "您曾于 %s 授权，但那是同名的另一个程序。", more: "未显示的部分",
		see: "查看%s", act: "在%s中点击和输入", destroy: "在%s中点击可能无法撤销的内容",
		start: "启动 %s，可附带由其打开的文件或地址", startGiven: "以其他参数启动 %s", startRun: "启动会执行命令的 %s", run: "在%s中输入命令", seeAndAct: "查看%s并在其中点击和输入",
		maySee: "读取其窗口中的所有内容，并拍摄其画面", mayAct: "在其窗口中点击任何内容和输入",
		mayStart: "启动它，并在其中打开文件和地址", mayStartGiven: "让它执行此命令所说的操作", mayDestroy: "点击可能删除、发送或付款的内容",
		anyCommand:  "以您的身份运行任何命令",
		sendPicture: "让 %s 的模型查看%s", maySend: "把其窗口的画面和文字发送给模型，由模型向它描述",
		record: "记录您在%s中的操作，直到停止为止", mayRecord: "把您在其中的每次点击和输入的文字连同窗口图片记录为步骤（不含密码），直到停止为止",
		goesTo: "画面将离开本机，发送到：%s", goesToSelf: "画面将发送到本机上的模型：%s",
		operateHost: "查看和操作它自身所在的%s", mayHost: "在它自身所在的程序中读取、点击和输入，因此也可能结束自身",
		isHost: "它在此程序中运行：关闭此程序即结束它。",
		screen: "正在运行的程序和整个屏幕", whole: "整个屏幕和剪贴板", windows: " %s 的窗口",
		deny: "拒绝", once: "仅授权一次", session: "本次会话授权", always: "授权此操作",
		all: "授权全部（%d 个）", allWindows: "授权查看和操作", never: "永远拒绝",
		wanted: "您要%s吗？", notYou: "这会更改网关本身。如果不是您本人的操作，请拒绝。", no: "拒绝", yes: "确认",
		titleFill: "允许 %s 使用机密 %s 吗？", titleFills: "允许 %s 使用您的 %d 个机密吗？",
		fillsValue: "它将：把机密 %s 填入 %[3]s 的%[2]s", fillsCode: "它将：把机密 %s 的一次性验证码填入 %[3]s 的%[2]s",
		valueUnseen: "它看不到机密内容；网关只会填入此处。",
		hiddenField: "密码框", textField: "文本框", field: "字段 %s", argument: "参数 %s",
	}
}

// actionText describes the call's action by facts that the gateway knows.
func (w words) actionText(r *aai.Request) string {
	if !r.App.OperatesOthers() {
		return w.effect[r.Effect()]
	}
	permission := r.Permission()
	if r.IsWholeScreen() {
		return w.window(r, permission)
	}
	if r.Assessment().PicturesGoTo != "" {
		return w.maySend
	}
	if r.Assessment().RecordsPerson {
		return w.mayRecord
	}
	switch permission {
	case aai.PermissionSee:
		return w.maySee
	case aai.PermissionDestroy:
		return w.mayDestroy
	case aai.PermissionRun:
		return w.anyCommand
	case aai.PermissionHost:
		return w.mayHost
	case aai.PermissionStart:
		if hasExtraArgs(r) {
			return w.mayStartGiven
		}
		return w.mayStart
	}
	return w.mayAct
}

// window describes a permission for windows; "" means seeing and acting.
func (w words) window(r *aai.Request, permission string) string {
	name := quoteTruncated(r.Call.Target.Name, maxName)
	of := fmt.Sprintf(w.windows, name)
	switch {
	case r.IsWholeScreen() && permission == aai.PermissionSee:
		of = w.screen // the clipboard needs permission to act
	case r.IsWholeScreen():
		of = w.whole
	}
	if host := r.Assessment().PicturesGoTo; host != "" {
		return fmt.Sprintf(w.sendPicture, truncateMiddle(ascii(host), maxName), of)
	}
	if r.Assessment().RecordsPerson {
		return fmt.Sprintf(w.record, of)
	}
	switch permission {
	case aai.PermissionSee:
		return fmt.Sprintf(w.see, of)
	case aai.PermissionAct:
		return fmt.Sprintf(w.act, of)
	case aai.PermissionDestroy:
		return fmt.Sprintf(w.destroy, of)
	case aai.PermissionRun:
		if r.StartsProgram() {
			return fmt.Sprintf(w.startRun, name)
		}
		return fmt.Sprintf(w.run, of)
	case aai.PermissionHost:
		return fmt.Sprintf(w.operateHost, of)
	case aai.PermissionStart:
		if hasExtraArgs(r) {
			return fmt.Sprintf(w.startGiven, name)
		}
		return fmt.Sprintf(w.start, name)
	}
	return fmt.Sprintf(w.seeAndAct, of)
}
