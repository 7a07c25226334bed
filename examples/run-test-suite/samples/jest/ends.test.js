const slug = require('./slug');

test.each(['!Hello', 'Hello!'])('leaves no hyphen at an end of %s', (title) =>
  expect(slug(title)).toBe('hello'),
);
