export async function broken_module() {
  return {};
}

throw new Error('this module is evaluated');
