package desktop

// A Profile describes how the toolkit of an app behaves, as far as callers must know. The backend sets it when it
// recognizes the app. The zero value is a toolkit without deviations.
type Profile struct {
	// IsBrowser reports whether the app shows web pages: its windows appear before their content, and it
	// drops behind keys that arrive faster than it reads them.
	IsBrowser bool
	// WorksCovered reports whether the app executes accessibility actions and updates its tree also while
	// other windows cover it.
	WorksCovered bool
	// FocusOnlyWhenActive reports whether the app reports a focused element only while one of its windows
	// is active.
	FocusOnlyWhenActive bool
	// ReportsFocusEarly reports whether the app reports the focused element in the background before a key comes.
	ReportsFocusEarly bool
	// RaisesOnFocus reports whether TakeFocus raises the window of the element.
	RaisesOnFocus bool
	// HasSetFocus reports whether the action SetFocus gives an element its window's keyboard focus without
	// raising the window.
	HasSetFocus bool
	// LosesLateKeys reports whether a busy app that has lost the keyboard moves the focus by a late tab
	// without an event.
	LosesLateKeys bool
	// WheelFocuses reports whether the wheel over a combo box gives it its window's keyboard focus.
	WheelFocuses bool
	// MisplacesPopups reports whether the frames inside an open list or popover are wrong by the way from the
	// place that the app asked for to the place that the window system chose.
	MisplacesPopups bool
	// TabsThroughCells reports whether tab moves within a table, and selects its cells on the way.
	TabsThroughCells bool
	// SkipsValidators reports whether SetText may set a text in a field of one line that the keyboard could
	// not enter.
	SkipsValidators bool
	// SelectsWithoutCurrent reports whether SelectItem leaves the current item of a list, which reports Focused.
	SelectsWithoutCurrent bool
	// KeepsCursor reports whether SelectItem leaves the keyboard at the former cell of a table.
	KeepsCursor bool
	// PromptsTakeText reports whether the app's own prompts take typed text away from its pages.
	PromptsTakeText bool
}
