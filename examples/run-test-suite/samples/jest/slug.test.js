const slug = require('./slug');

describe('slug', () => {
  test('joins words', () => expect(slug('Two Words')).toBe('two-words'));
  test('keeps accents readable', () => expect(slug('Café')).toBe('cafe'));
  test.todo('cuts long titles');
});
