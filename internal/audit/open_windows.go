package audit

// noFollow is zero: pipes have a separate name space.
const noFollow = 0
