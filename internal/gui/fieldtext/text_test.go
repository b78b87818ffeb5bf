package fieldtext_test

import (
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
)

func TestNumbers(t *testing.T) {
	for text, want := range map[string]float64{"7": 7, " 7.50 ": 7.5, "-3": -3, "\u22123": -3, "1e3": 1000} {
		got := fieldtext.ParseNumber(text, math.NaN())
		assert.Check(t, is.Equal(got, want), "%q", text)
		assert.Check(t, fieldtext.SameNumber(text, want), "%q %v", text, want)
	}
	for _, text := range []string{"", "seven", "7 kg", "Inf", "NaN", "1,5"} {
		got := fieldtext.ParseNumber(text, 42)
		assert.Check(t, got == 42 || math.IsNaN(got), "%q is the number %v", text, got)
		assert.Check(t, !fieldtext.SameNumber(text, 42), "%q is the number %v", text, got)
	}
	assert.Assert(t, !fieldtext.SameNumber("7", 7.1), "numbers are the same to a millionth, and no further")
	assert.Assert(t, fieldtext.SameNumber("0.3", 0.1+0.2), "numbers are the same to a millionth, and no further")
}

// TestIsSameWrittenNumber: integers, and numbers with more digits than programs compute with, match
// exactly and are typed with all digits.
func TestIsSameWrittenNumber(t *testing.T) {
	for _, c := range []struct {
		text, written string
		want          bool
	}{
		{"7", "7.0", true}, {"0.30000000000000004", "0.3", true}, {"0.5", ".5", true}, {"-0", "0", true}, {"1000", "1e3", true}, {"\u22123", "-3", true},
		{"4000123412341234700", "4000123412341234567", false}, {"4000123412341234567", "4000123412341234567", true},
		{"9007199254740992", "9007199254740993", false}, {"1234567890123456.8", "1234567890123456.78", false}, {"1000000000000000001", "1000000000000000000", false},
		{"1.0000000000000002", "1", true}, {"", "0", false}, {"7 kg", "7", false}, {"-7", "7", false},
	} {
		assert.Check(t, is.Equal(fieldtext.IsSameWrittenNumber(c.text, c.written), c.want), "%q %q", c.text, c.written)
	}
	for written, want := range map[string]string{"1e3": "1000", " 7.50 ": "7.5", "\u22124000123412341234567": "-4000123412341234567", "1234567890123456.78": "1234567890123456.78"} {
		assert.Check(t, is.Equal(fieldtext.PlainDigits(written), want), "%q", written)
	}
}

func TestDateTimes(t *testing.T) {
	day := map[string]float64{"year": 2026, "month": 3, "day": 4}
	clock := map[string]float64{"hour": 13, "minute": 45, "second": 0, "millisecond": 0}
	both := maps.Clone(day)
	maps.Copy(both, clock)
	for text, want := range map[string]map[string]float64{
		"2026-03-04": day, " 13:45 ": clock, "2026-03-04T13:45": both, "2026-03-04 13:45:00": both,
		"2026-03": {"year": 2026, "month": 3}, "2026-W10": {"year": 2026, "week": 10}, "2026-W53": {"year": 2026, "week": 53},
		"2027-W53": nil, "2027-W00": nil, "2027-02-30": nil,
		"4.3.2026": nil, "tomorrow": nil, "": nil, "25:00": nil,
	} {
		assert.Check(t, is.DeepEqual(want, fieldtext.ParseDateTime(text)), "%q", text)
	}
	for _, text := range []string{"2026-03-04", "2026-03", "2026-W10", "13:45:00.007", "2026-03-04T13:45:00.000"} {
		assert.Check(t, is.Equal(fieldtext.FormatDateTime(fieldtext.ParseDateTime(text)), text))
	}
	got := fieldtext.FormatDateTime(nil)
	assert.Check(t, is.Equal(got, ""), "nothing is written %q", got)
}

// TestUnits: bounds and the usual structure of such fields reveal the units, in the order of any
// language, also with a minimum and maximum.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		want   string
		bounds [][2]float64
	}{
		{"month day year", [][2]float64{{1, 12}, {1, 31}, {1, 275760}}},
		{"day month year", [][2]float64{{1, 31}, {1, 12}, {1, 275760}}},
		{"year month day", [][2]float64{{1, 9999}, {1, 12}, {1, 28}}},
		{"month day year", [][2]float64{{1, 12}, {1, 31}, {2020, 2030}}},
		{"month day year", [][2]float64{{3, 9}, {1, 31}, {2026, 2026}}},
		{"month day year", [][2]float64{{3, 3}, {5, 20}, {2026, 2026}}},
		{"month day year", [][2]float64{{3, 3}, {5, 9}, {2026, 2026}}},
		{"day month year", [][2]float64{{5, 9}, {3, 3}, {2026, 2026}}},
		{"month year", [][2]float64{{1, 12}, {2026, 2027}}},
		{"week year", [][2]float64{{1, 53}, {1, 9999}}},
		{"week year", [][2]float64{{3, 20}, {2026, 2026}}},
		{"", [][2]float64{{3, 9}, {2026, 2026}}}, // months or weeks
		{"", [][2]float64{{3, 3}, {5, 5}, {2026, 2026}}},
		{"hour minute", [][2]float64{{0, 23}, {0, 59}}},
		{"hour minute half", [][2]float64{{1, 12}, {0, 59}, {1, 2}}},
		{"half hour minute second", [][2]float64{{0, 1}, {0, 11}, {0, 59}, {0, 59}}},
		{"hour minute half", [][2]float64{{1, 5}, {0, 59}, {1, 2}}},
		{"hour minute half", [][2]float64{{1, 1}, {10, 40}, {1, 2}}},
		{"hour minute second millisecond", [][2]float64{{0, 23}, {0, 59}, {0, 59}, {0, 999}}},
		{"month day year hour minute half", [][2]float64{{3, 4}, {1, 31}, {2026, 2026}, {1, 12}, {0, 59}, {1, 2}}},
		{"day month year hour minute", [][2]float64{{13, 13}, {3, 3}, {2026, 2026}, {8, 18}, {0, 59}}},
		{"", [][2]float64{{0, 59}, {0, 59}}}, {"", [][2]float64{{0, 7}, {0, 7}}}, {"", [][2]float64{{0, 0}, {0, 0}}}, {"", [][2]float64{{0, 23}}}, {"", nil},
	} {
		var parts []*desktop.Element
		for _, b := range c.bounds {
			parts = append(parts, &desktop.Element{Min: b[0], Max: b[1]})
		}
		assert.Check(t, is.Equal(strings.Join(fieldtext.DateTimeUnits(parts), " "), c.want), c.bounds)
	}
}

// TestBlockNames: the cells of a block have a sheet's names, from A to beyond Z.
func TestBlockNames(t *testing.T) {
	cell := func(name string) *desktop.Element {
		return &desktop.Element{Role: desktop.Cell, Name: name, States: desktop.Editable | desktop.Focusable}
	}
	b, is := fieldtext.ParseBlock(cell("Y9"), "a\tb\tc\nd\te\tf\n")
	if !is || b.CellName(0, 0) != "Y9" || b.CellName(0, 2) != "AA9" || b.CellName(1, 1) != "Z10" || b.LastCellName() != "AA10" {
		t.Errorf("%v: %s %s %s %s", is, b.CellName(0, 0), b.CellName(0, 2), b.CellName(1, 1), b.LastCellName())
	}
	if d := cmp.Diff([][]string{{"a", "b", "c"}, {"d", "e", "f"}}, b.Rows); d != "" {
		t.Error(d)
	}
	for name, text := range map[string]string{"B2": "one cell", "2": "a\tb", "b2": "a\tb", "B": "a\tb", "B2x": "a\tb"} {
		if _, is := fieldtext.ParseBlock(cell(name), text); is {
			t.Errorf("%q in %s is a block", text, name)
		}
	}
	rapid.Check(t, func(t *rapid.T) { // names continue
		name := rapid.StringMatching(`[A-Z]{1,3}[1-9][0-9]{0,3}`).Draw(t, "name")
		b, is := fieldtext.ParseBlock(cell(name), "a\tb\nc\td")
		if !is || b.CellName(0, 0) != name {
			t.Fatalf("%s is called %s", name, b.CellName(0, 0))
		}
		next, is := fieldtext.ParseBlock(cell(b.CellName(1, 1)), "a\tb\nc\td")
		if !is || next.CellName(-1, -1) != name {
			t.Fatalf("before %s is %s, want %s", b.CellName(1, 1), next.CellName(-1, -1), name)
		}
	})
}

func TestSameCell(t *testing.T) {
	for _, c := range []struct {
		shown, value string
		same         bool
	}{
		{"12", "12", true}, {"12.00", "12", true}, {"1234.5", "1,234.50", true}, {"1234,5", "1.234,50", true}, {"1234.5", "1,234.60", false},
		{"0012", "'0012", true}, {"12", "0012", false}, {"0.5", "0.50", true}, {"0", "0", true}, {"", "0", false}, {"'", "'", true},
		{"1234", "1 234", true}, {"¾", "3/4", false}, {"12", "12 apples", false},
	} {
		got := fieldtext.SameCell(c.shown, c.value)
		assert.Check(t, is.Equal(got, c.same), "%q shown of %q is the same: %t", c.shown, c.value, got)
	}
}

func TestValue(t *testing.T) {
	for want, e := range map[string]desktop.Element{
		"Ann":   {Value: "Ann"},
		"true":  {States: desktop.Checkable | desktop.Checked},
		"false": {States: desktop.Checkable},
		"mixed": {States: desktop.Checkable | desktop.Mixed},
		"":      {Name: "Save"},
	} {
		assert.Check(t, is.Equal(fieldtext.Value(&e), want), "%+v", e)
	}
	secret := desktop.Element{States: desktop.Protected | desktop.Editable, Value: "s3cret", Role: desktop.Textbox}
	assert.Check(t, fieldtext.DisplayValue(&secret) != "s3cret", "what a password field holds is shown")
	assert.Check(t, fieldtext.FullText(&secret) != "s3cret", "what a password field holds is shown")
}

// TestFormatLike: a date is written in the field's format, or not at all.
func TestFormatLike(t *testing.T) {
	for _, c := range []struct{ shown, wanted, text string }{
		{"02.01.2027", "14.03.2027", "14.03.2027"},
		{"02.01.2027", "1.3.2027", "01.03.2027"},
		{"2.1.2027", "14.03.2027", "14.3.2027"},
		{"02.01.2027", "2027-03-14", "14.03.2027"},
		{"2. 1. 2027", "2027-03-04", "4. 3. 2027"},
		{"2027-01-02", "2027-03-14", "2027-03-14"},
		{"2027/01/02", "2027-03-14", "2027/03/14"},
		{"01/02/2027", "2027-03-14", ""}, // ambiguous month
		{"01/22/2027", "2027-03-14", "03/14/2027"},
		{"22/01/2027", "2027-03-14", "14/03/2027"},
		{"01/02/2027", "3/14/2027", "03/14/2027"},
		{"08:30", "17:45", "17:45"},
		{"08:30", "7:05", "07:05"},
		{"8:30", "17:05", "17:05"},
		{"08:30 AM", "09:15 PM", "09:15 PM"},
		{"08:30 AM", "17:45", ""},
		{"08:30:00", "17:45", "17:45:00"},
		{"08:30", "17:45:10", ""},
		{"2027-01-02 08:30", "2027-03-14T09:15", "2027-03-14 09:15"},
		{"02.01.2027 08:30", "2027-03-14T09:15", "14.03.2027 09:15"},
		{"2027-01-02 08:30", "2027-03-14", ""},
		{"2027-01-02", "2027-03-14T09:15", ""},
		{"02.01.2027", "soon", ""},
		{"02.01.2027", "", ""},
		{"02.01.2027", "02.01.27", ""},
		{"02.01.27", "2027-03-14", ""},
		{"02.01.2027", "123.01.2027", ""},
		{"2 January 2027", "14 March 2027", ""},
		{"2 January 2027", "14 January 2028", "14 January 2028"},
		{"soon", "later", ""},
		{"", "14.03.2027", ""},
	} {
		text, ok := fieldtext.FormatLike(c.shown, c.wanted)
		assert.Check(t, is.Equal(ok, (c.text != "")), "%q %q", c.wanted, c.shown)
		assert.Check(t, is.Equal(text, c.text), "%q %q", c.wanted, c.shown)
	}
}

func TestIsReformatted(t *testing.T) {
	for _, c := range []struct {
		shown, text string
		want        bool
	}{
		{"123-456", "123456", true}, {"(030) 12 34", "0301234", true}, {"1,234,567", "1234567", true}, {"ABC", "abc", true}, {"+49 30", "4930", true}, {"-", "", true},
		{"q", " q ", true}, {"7.00", "7", true}, {"7,00", "7", true}, {"2.20", "2.2", true}, {"7.000", "7", false}, {"7.01", "7", false}, {"7.", "7", false},
		{"70", "7", false}, {"", " ", false}, {"1.1", "1.10", false},
		{"123-45", "123456", false}, {"12.34", "1234", false}, {"-12", "12", false}, {"120", "12", false}, {"ab", "ba", false}, {"x", "", false},
		{"$-5", "5", false}, {"5-", "5", false}, {"(5)", "5", false}, {"5²", "5", false}, {"<5", "5", false}, {"½5", "5", false},
	} {
		assert.Check(t, is.Equal(fieldtext.IsReformatted(c.shown, c.text), c.want), "%q %q", c.shown, c.text)
	}
}
