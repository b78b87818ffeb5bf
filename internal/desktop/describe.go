package desktop

// maxDescribedName is the maximum length of a name in a description, in bytes.
const maxDescribedName = 80

// Describe returns a short description of the element: button "Save". An element without a name is
// described by its description or identifier: button (Closes the tab), textbox #email. Text of the app is
// cleaned to one line and quoted, so that it cannot pass for the gateway's own words.
func Describe(e *Element) string {
	switch {
	case e.Name != "":
		return string(e.Role) + " " + Quote(e.Name, maxDescribedName)
	case e.Description != "":
		quoted := Quote(e.Description, maxDescribedName)
		return string(e.Role) + " (" + quoted[1:len(quoted)-1] + ")"
	case e.Identifier != "":
		quoted := Quote(e.Identifier, maxDescribedName)
		return string(e.Role) + " #" + quoted[1:len(quoted)-1]
	}
	return string(e.Role)
}
