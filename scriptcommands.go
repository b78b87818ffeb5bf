package aai

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ProgramCommands returns the words of the script by which it runs any program, command or further code, such as "do shell script".
// It reads words, also in texts and comments. A script that composes such a word while it runs is not found.
func (s *ScriptRecipe) ProgramCommands() []string {
	if s.Language == "jxa" {
		return jxaProgramCommands(s.Script)
	}
	text := regexp.MustCompile(`\(\*(?s:.*?)\*\)|--[^\n\r]*`).ReplaceAllString(s.Script, " ")
	text = joinWords(text) + " \n " + joinWords(s.Script)
	var found []string
	for _, command := range []string{"do shell script", "run script", "load script", "do script", "write text", "use framework", "use script", "«event"} {
		if strings.Contains(text, command) {
			found = append(found, command)
		}
	}
	return found
}

// joinWords returns a text in small letters, with one space where AppleScript has white space or a continued line.
func joinWords(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(text, "¬", " ")), " "))
}

func jxaProgramCommands(script string) []string {
	escape := regexp.MustCompile(`\\(?:u\{([0-9A-Fa-f]{1,8})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))`)
	text := escape.ReplaceAllStringFunc(script, func(found string) string {
		n, err := strconv.ParseUint(strings.Trim(found[2:], "{}"), 16, 32)
		if err != nil {
			return found
		}
		return string(rune(n))
	})
	var found []string
	add := func(word string) {
		if !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	word := regexp.MustCompile(`\b(?:doShellScript|doScript|runScript|loadScript|ObjC|eval|Function|constructor|Library)\b`)
	for _, name := range word.FindAllString(text, -1) {
		add(name)
	}
	if regexp.MustCompile(`(?:^|[^\w$])\$\s*[.(\[]`).MatchString(text) {
		add("$")
	}
	return found
}
