package dialog

// words are what the windows say themselves; the question has its own.
type words struct {
	title   string // of the window
	heading string
	more    string // a button that leads to further choices
	again   string // after an answer that came too fast
	choose  string // above a list of choices

	yes, no, cancel string // what a message box calls its three buttons
}

func wordsIn(language string) words {
	if language == "zh" {
		return words{
			title: "AAI Gateway", heading: "AAI Gateway 请求权限", more: "更多…",
			again:  "您的回答太快，请先阅读。",
			choose: "请选择：", yes: "是", no: "否", cancel: "取消",
		}
	}
	return words{
		title: "AAI Gateway", heading: "AAI Gateway asks for your consent", more: "More…",
		again:  "That was faster than anybody can read. Please read it first.",
		choose: "Choose:", yes: "Yes", no: "No", cancel: "Cancel",
	}
}
