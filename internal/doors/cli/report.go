package cli

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A testCase is a case of a report in the format of JUnit.
type testCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Failure *testFailure `xml:"failure,omitempty"`
}

type testFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func newTestCase(class, name, problem, text string) testCase {
	return testCase{class, name, &testFailure{problem, strings.TrimSpace(text)}}
}

// junit writes the cases as one suite.
func (o *output) junit(name string, cases []testCase) error {
	type suite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	s := suite{Name: name, Tests: len(cases), Cases: cases}
	for _, c := range cases {
		if c.Failure != nil {
			s.Failures++
		}
	}
	text, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("the report cannot be written as XML: %w", err)
	}
	o.raw(xml.Header + string(text) + "\n")
	return nil
}

// newSARIF returns the issues in the format SARIF 2.1.0. Elements are logical locations, since a window has no file.
func newSARIF(version, app string, issues []issueView) map[string]any {
	type object = map[string]any
	rules, results := []object{}, []object{}
	var ids []string
	for _, i := range issues {
		if !slices.Contains(ids, i.Rule) {
			ids = append(ids, i.Rule)
			rule := object{
				"id": i.Rule, "shortDescription": object{"text": i.Suggestion}, "help": object{"text": strings.TrimSpace(i.Suggestion + " " + i.Criterion)},
				"defaultConfiguration": object{"level": sarifLevel(i.Severity)}, "properties": object{"tags": []string{"accessibility"}},
			}
			if link := criterionLink(i.Criterion); link != "" {
				rule["helpUri"] = link
			}
			rules = append(rules, rule)
		}
		results = append(results, object{
			"ruleId": i.Rule, "ruleIndex": slices.Index(ids, i.Rule), "level": sarifLevel(i.Severity), "message": object{"text": i.Element + ": " + i.Description},
			"locations":           []object{{"logicalLocations": []object{{"name": i.Element, "fullyQualifiedName": i.Path, "kind": "element"}}}},
			"partialFingerprints": object{"path/v1": i.Rule + " " + i.Path},
			"properties":          object{"severity": i.Severity, "app": app},
		})
	}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool":    object{"driver": object{"name": program, "version": version, "rules": rules}},
			"results": results, "columnKind": "utf16CodeUnits",
		}},
	}
}

// sarifLevel returns the level of SARIF for the severity of an issue.
func sarifLevel(severity string) string {
	switch severity {
	case "critical", "serious":
		return "error"
	case "moderate":
		return "warning"
	}
	return "note"
}

// criterionLink returns the page of W3C that explains the criterion, such as "4.1.2 Name, Role, Value"; "" for none.
func criterionLink(criterion string) string {
	_, name, is := strings.Cut(criterion, " ")
	if !is {
		return ""
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
	return "https://www.w3.org/WAI/WCAG22/Understanding/" + strings.Join(words, "-")
}
