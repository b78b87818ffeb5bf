package dialog

// messages are the dialog's own texts; the question has its own.
type messages struct {
	title     string // of the window
	heading   string
	numbered  string // the heading of one of several pages, for fmt
	details   string // the heading of the details
	forGood   string // above a refusal for good
	retryText string // after an answer that came too fast
	disturbed string // after an answer that may not be the person's

	// Buttons: to the next page of the question, to the details, to the beginning, and the
	// placeholder where no answer is possible.
	next, more, back, readOn, nothing string

	number string // asks for the number of an answer

	yes, no, cancel string // the names of a message box's three buttons

	hiddenHeading string // of a window that asks for a hidden value

	closing string // the button that closes the window, where a program has one
	// omitted replaces a value in a window with a public text, for fmt;
	// whereOmitted says where the values are.
	omitted, whereOmitted string
}

func messagesIn(language string) messages {
	if language == "zh" {
		return messages{
			title: "AAI Gateway", heading: "AAI Gateway 请求权限", numbered: "%s（第 %d 页，共 %d 页）", details: "AAI Gateway：详细信息",
			forGood:   "永远拒绝吗？关闭此窗口也表示永远拒绝。",
			retryText: "您的回答太快，请先阅读。", disturbed: "期间有程序输入，请重新回答。",
			next: "下一页", more: "更多…", back: "返回", readOn: "请先读完", nothing: "留在此页",
			number: "请输入答案的编号，不要输入密码。", hiddenHeading: "AAI Gateway 请您输入机密",
			yes: "是", no: "否", cancel: "取消", closing: "关闭",
			omitted: "（%d 个字符）", whereOmitted: "本机的其他账户可以读取此窗口，因此不显示具体内容。请在网关的页面上查看此调用：aai-gateway web。",
		}
	}
	return messages{
		title: "AAI Gateway", heading: "AAI Gateway asks for your consent", numbered: "%s, page %d of %d",
		details: "AAI Gateway: details", forGood: "Refuse permanently? Closing this window also refuses.",
		retryText: "The answer came too fast. Please read the question first.",
		disturbed: "A gateway typed in the meantime. Please answer again.",
		next:      "Next page", more: "More…", back: "Back", readOn: "Read on first", nothing: "Stay here",
		number: "Type the number of your answer, no password.", hiddenHeading: "AAI Gateway asks you to type a secret",
		yes: "Yes", no: "No", cancel: "Cancel", closing: "Close",
		omitted: "(%d characters)",
		whereOmitted: "Other accounts can read this window, so values are left out. The gateway's page shows the call: " +
			"aai-gateway web.",
	}
}
