/** Names and sentences of one language; `{n}` in a sentence becomes a number. */
export interface Language {
  given: readonly string[]
  family: readonly string[]
  sentences: readonly string[]
}

export const languages: readonly Language[] = [
  {
    given: ['Alice', 'Brian', 'Chloe', 'Daniel', 'Grace', 'Hugh', 'Niamh', 'Zoë'],
    family: ["O'Brien", 'Smith', 'Taylor', 'Okafor', 'Nguyễn', 'García-López', 'Brown'],
    sentences: [
      'Please check the total on page {n}.',
      'I think this paragraph repeats section {n}.',
      'The figure should say {n} %, see the sheet.',
      'If a < b && b > {n}, this breaks & we lose "quotes".',
    ],
  },
  {
    given: ['Jürgen', 'Élise', 'Søren', 'Łukasz', 'Ángel', 'Ştefan'],
    family: ['Müller', 'Dvořák', 'Lefèvre', 'Østergård', 'Muñoz', 'Çelik'],
    sentences: [
      'Bitte auf Seite {n} prüfen, die Größe stimmt nicht.',
      "C'est noté, à vérifier d'ici {n} jours.",
      '¿Podemos añadir la cláusula {n} aquí?',
    ],
  },
  {
    given: ['Анна', 'Дмитрий', 'Ольга', 'Сергій', 'Мария'],
    family: ['Иванова', 'Петренко', 'Соколов', 'Ковачевић', 'Đorđević'],
    sentences: [
      'Проверьте, пожалуйста, пункт {n}.',
      'Согласен, можно закрывать.',
      'Сумма на странице {n} не сходится.',
    ],
  },
  {
    given: ['أحمد', 'فاطمة', 'يوسف', 'ليلى'],
    family: ['المصري', 'حداد', 'بن علي'],
    sentences: ['يرجى مراجعة الصفحة {n}.', 'موافق، يمكن الإغلاق.', 'الرقم {n} غير صحيح هنا.'],
  },
  {
    given: ['आरव', 'प्रिया', 'रोहन', 'सुनीता'],
    family: ['शर्मा', 'पटेल', 'गुप्ता'],
    sentences: ['कृपया पृष्ठ {n} की जाँच करें।', 'सहमत हूँ, आगे बढ़ते हैं।', 'अनुभाग {n} में योग गलत है।'],
  },
  {
    given: ['伟', '芳', '秀英', '敏', '𠮷'],
    family: ['王', '李', '张', '欧阳'],
    sentences: ['请检查第{n}页的合计。', '同意，可以关闭了。', '这里的数字{n}不对。'],
  },
  {
    given: ['太郎', '花子', 'さくら', 'ケンジ'],
    family: ['佐藤', '鈴木', '髙橋'],
    sentences: [
      '{n}ページを確認してください。',
      'これで問題ありません。',
      'セクション{n}の合計が違います。',
    ],
  },
  {
    given: ['민준', '서연', '지훈', '하은'],
    family: ['김', '이', '박'],
    sentences: [
      '{n}페이지를 확인해 주세요.',
      '동의합니다. 닫아도 됩니다.',
      '{n}절의 합계가 맞지 않습니다.',
    ],
  },
]

/** Some comments end with one of these. The family and the flag consist of several code points. */
export const emoji: readonly string[] = ['👍', '🎉', '👩‍👩‍👧‍👦', '🇺🇦', '❤️', '🤷🏽‍♀️']
