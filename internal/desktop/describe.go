package desktop

// maxDescribedName is how many bytes of a name a description shows.
const maxDescribedName = 80

// Describe says in a few words which element it is: button "Save". One without a
// name is told by its description or its identifier: button (Closes the tab),
// textbox #email. What the app wrote is cleaned, so that it is one harmless line,
// and quoted, so that it cannot pass for words of ours.
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
