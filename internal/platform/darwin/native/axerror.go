package native

import "strconv"

// An AXError is an error of the accessibility API; 0 is success.
type AXError int32

// The errors, as AXError.h numbers them.
const (
	ErrFailure              AXError = -25200
	ErrIllegalArgument      AXError = -25201
	ErrInvalidElement       AXError = -25202
	ErrInvalidObserver      AXError = -25203
	ErrCannotComplete       AXError = -25204
	ErrAttributeUnsupported AXError = -25205
	ErrActionUnsupported    AXError = -25206
	ErrNoNotification       AXError = -25207
	ErrNotImplemented       AXError = -25208
	ErrAlreadyRegistered    AXError = -25209
	ErrNotRegistered        AXError = -25210
	ErrDisabled             AXError = -25211
	ErrNoValue              AXError = -25212
	ErrParameterUnsupported AXError = -25213
	ErrNotEnoughPrecision   AXError = -25214
)

// Words returns the meaning of the error, as a clause.
func (e AXError) Words() string {
	switch e {
	case 0:
		return "it succeeded"
	case ErrFailure:
		return "the app or the system failed"
	case ErrIllegalArgument:
		return "the app rejected an argument"
	case ErrInvalidElement:
		return "the element no longer exists"
	case ErrInvalidObserver:
		return "the observer is invalid"
	case ErrCannotComplete:
		return "the app did not answer"
	case ErrAttributeUnsupported:
		return "the element has no such attribute"
	case ErrActionUnsupported:
		return "the element has no such action"
	case ErrNoNotification:
		return "the app does not send such notifications"
	case ErrNotImplemented:
		return "the app does not implement the function"
	case ErrAlreadyRegistered:
		return "the notification is requested already"
	case ErrNotRegistered:
		return "the notification was not requested"
	case ErrDisabled:
		return "this program may not use accessibility"
	case ErrNoValue:
		return "the attribute has no value"
	case ErrParameterUnsupported:
		return "the element has no such parameterized attribute"
	case ErrNotEnoughPrecision:
		return "the number is not precise enough"
	}
	return "error " + strconv.Itoa(int(e)) + " of the accessibility API"
}
