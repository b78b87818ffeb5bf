package com_test

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestCallsAnObject(t *testing.T) {
	d := newDriver(t)
	got, err := run(t, d, `[{"action":"create","var":"d","progid":"Scripting.Dictionary"},
		{"action":"call","object":"d","method":"Add","args":["a","${x}"]},
		{"action":"get","object":"d","property":"Item","args":["a"]}]`, map[string]any{"x": "grüße 漢字 😀"})
	assert.NilError(t, err)
	assert.Equal(t, got.Data, "grüße 漢字 😀")
}

func TestCallsAnApp(t *testing.T) {
	d := newDriver(t)
	got, err := run(t, d, `[{"action":"create","var":"a","progid":"`+startable(t)+`"},
		{"action":"call","object":"a","method":"Add","args":[2,40]}]`, nil)
	assert.NilError(t, err)
	assert.Equal(t, got.Data, int64(42))
}
