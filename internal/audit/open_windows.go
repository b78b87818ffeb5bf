package audit

// noFollow is nothing here: pipes have names of their own.
const noFollow = 0
